package import Postgres

/// Why a notification cannot be loaded, or not go on being loaded.
package enum LoadError: Error {
    /// No row in `todoke.apps` has this name.
    case unknownApp(String)
    /// Its `closes_at` has passed, or its messages were purged.
    case closed(notificationID: String)
    case cancelled(notificationID: String)
    /// The notification was begun with another template.
    case otherTemplate(notificationID: String)
    /// The notification was begun with another audience or other options.
    case otherDefinition(notificationID: String)
    /// The notification was begun with the other value of `validate_only`, or another `delivery`: both are its own, and
    /// not those of a message.
    case otherKind(notificationID: String, option: String)
    /// Another run holds the notification.
    case busy(notificationID: String)
    /// Another run took the notification over while this one was quiet for longer than its lease.
    case leaseLost(notificationID: String)
    /// There is no partition for the notification's day.
    case noPartition(day: String)
    /// Some of the schema `todoke` is missing.
    case noSchema
    case database(PostgresError)

    /// What a database error means here.
    package init(_ error: PostgresError) {
        switch error.sqlState {
        case .undefinedTable, .invalidSchemaName, .undefinedFunction, .undefinedColumn, .undefinedObject:
            self = .noSchema
        default: self = .database(error)
        }
    }
}
