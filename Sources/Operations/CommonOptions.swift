/// Options that several programs share, so that one name means one thing.
extension Option {
    package static let databaseURL = Option(
        "database-url", "URL",
        help: "The queue's database: postgres://… or key=value pairs; without it libpq's PG* variables count.")
    package static let directDatabaseURL = Option(
        "direct-database-url", "URL",
        help: "A way to the same database that does not pass a transaction-pooling proxy. Without it: --database-url.")
    package static let logFormat = Option(
        "log-format", "FORMAT", default: "logfmt", help: "logfmt or json, on standard error.")
    package static let logLevel = Option("log-level", "LEVEL", default: "info", help: "debug, info, warning or error.")
    package static let json = Option("json", help: "Print the result as JSON, for programs.")
}

extension ParsedOptions {
    /// The log that `--log-format` and `--log-level` ask for.
    package func log() throws(Failure) -> Log {
        guard let format = Log.Format(rawValue: string("log-format") ?? "logfmt") else {
            throw Failure(.usage, "--log-format must be logfmt or json", remedy: "see \(program) --help")
        }
        guard let level = Log.Level(name: string("log-level") ?? "info") else {
            throw Failure(.usage, "--log-level must be debug, info, warning or error", remedy: "see \(program) --help")
        }
        return Log(format: format, threshold: level)
    }
}
