import Operations
import Postgres
import Queue

extension Subcommand {
    /// A connection to the queue's database, or a failure that names what cannot be reached.
    ///
    /// - Parameter direct: past a pooler, where `--direct-database-url` names a way.
    static func connect(_ options: ParsedOptions, direct: Bool = false) throws(Failure) -> Connection {
        let url = (direct ? options.string("direct-database-url") : nil) ?? options.string("database-url")
        do throws(PostgresError) {
            return try Connection(Conninfo(url, applicationName: "todoke"))
        } catch {
            throw Failure(error, while: "connecting to the queue's database")
        }
    }
}
