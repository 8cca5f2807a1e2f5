package import Postgres

/// What a run would find in the database, for a run that writes nothing.
package struct LoadRehearsal {
    /// When messages are due that have no time of their own, in microseconds since 1970.
    package let dueMicroseconds: Int
    /// The targets that an app of the sandbox may have, by their keys; `nil` for an app that may have any.
    package let allowedTargets: Set<DedupeKey>?

    /// Looks whether the notification could be loaded; throws what a run would throw before its first row, except that
    /// another run is loading it just now.
    package init(_ connection: Connection, _ request: LoadRequest) throws(LoadError) {
        do {
            let app = try LoadLease.app(request.app, connection)
            allowedTargets = app.allowedTargets
            let row = try connection.query(
                LoadLease.look,
                [.int(app.id), .text(request.notificationID), .text(request.append ? "true" : "false")])
            if row.rowCount > 0 { try LoadLease.check(row, request) }
            let now = try connection.query("SELECT (extract(epoch FROM now()) * 1000000)::bigint")
            dueMicroseconds = row.rowCount > 0 ? row.int(0, 9) ?? 0 : now.int(0, 0) ?? 0
        } catch let error as PostgresError {
            throw LoadError(error)
        } catch let error as LoadError {
            throw error
        } catch {
            throw .busy(notificationID: request.notificationID)
        }
    }
}
