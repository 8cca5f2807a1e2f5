import Operations
import Postgres
import Queue

/// A connection on which bulk operations are called one after the other, each a transaction of its own.
struct BulkSession {
    private let connection: Connection
    /// A lock is waited for for some seconds by the functions themselves; so often it is tried again.
    private static let tries = 10

    init(_ options: ParsedOptions) throws(Failure) {
        connection = try Subcommand.connect(options)
    }

    /// Runs a statement; one that did not get a lock in time, or met a deadlock, is run again.
    func query(_ sql: String, _ parameters: [Value], while doing: String) throws(Failure) -> QueryResult {
        var tries = 0
        while true {
            do throws(PostgresError) {
                return try connection.query(sql, parameters)
            } catch {
                tries += 1
                guard error.isRetryable || error.sqlState == .lockNotAvailable, tries < Self.tries,
                    !StopSignal.isRequested
                else { throw Self.failure(error, while: doing) }
            }
        }
    }

    /// Waits for what others have locked.
    func pause() throws(Failure) { _ = try query("SELECT pg_sleep(0.2)", [], while: "waiting") }

    private static func failure(_ error: PostgresError, while doing: String) -> Failure {
        switch error.sqlState?.rawValue {
        // What is not there, or is not in that state.
        case "P0002", "55000":
            Failure(.data, error.message, remedy: error.hint.map(lowercased) ?? "see what todoke.notifications has")
        case "42501":
            Failure(
                .configuration, "\(doing) failed: \(error.message)",
                remedy: "run it as a member of todoke_owner, or grant this user EXECUTE on the function")
        default: Failure(error, while: doing)
        }
    }

    /// A sentence of the server's as the second half of one of ours.
    private static func lowercased(_ text: String) -> String {
        text.prefix(1).lowercased() + text.dropFirst()
    }
}
