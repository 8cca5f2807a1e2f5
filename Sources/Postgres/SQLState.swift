/// A five-character SQLSTATE as the server reports it; codes of the same class share their first two characters.
package struct SQLState: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    private init(_ code: StaticString) { rawValue = "\(code)" }

    /// The first two characters: `"23"` for every integrity constraint.
    package var classCode: Substring { rawValue.prefix(2) }

    package static let invalidPassword = SQLState("28P01")
    package static let invalidAuthorization = SQLState("28000")
    package static let invalidCatalogName = SQLState("3D000")
    package static let tooManyConnections = SQLState("53300")
    package static let uniqueViolation = SQLState("23505")
    package static let foreignKeyViolation = SQLState("23503")
    package static let checkViolation = SQLState("23514")
    package static let notNullViolation = SQLState("23502")
    package static let exclusionViolation = SQLState("23P01")
    package static let serializationFailure = SQLState("40001")
    package static let deadlockDetected = SQLState("40P01")
    package static let lockNotAvailable = SQLState("55P03")
    package static let queryCanceled = SQLState("57014")
    package static let adminShutdown = SQLState("57P01")
    package static let crashShutdown = SQLState("57P02")
    package static let cannotConnectNow = SQLState("57P03")
    package static let readOnlyTransaction = SQLState("25006")
    package static let undefinedTable = SQLState("42P01")
    package static let undefinedFunction = SQLState("42883")
    package static let undefinedColumn = SQLState("42703")
    package static let undefinedObject = SQLState("42704")
    package static let duplicateTable = SQLState("42P07")
    package static let duplicateDatabase = SQLState("42P04")
    package static let invalidSchemaName = SQLState("3F000")
    package static let syntaxError = SQLState("42601")
    package static let insufficientPrivilege = SQLState("42501")
    package static let raisedException = SQLState("P0001")
}
