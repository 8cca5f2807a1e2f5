import Postgres

/// Where the queue's database is, and what this sender says about itself there.
struct QueueDatabaseSettings {
    let conninfo: Conninfo
    /// Where LISTEN works: past a pooler that gives every transaction another session.
    let directConninfo: Conninfo
    /// Parameters of `SenderRegistration.insert`.
    let registration: [Value]
    let appNames: [String]
    let leaseSeconds: Int
    /// Nanoseconds after which a statement without an answer means that the server is lost.
    var statementTimeout: Int64 = 30_000_000_000
    /// Nanoseconds until a notification must have arrived where LISTEN works.
    var listenTimeout: Int64 = 2_000_000_000
    /// Nanoseconds until LISTEN is tried again where it did not work once; twice that the next time, and so on.
    var listenSoon: Int64 = 5_000_000_000
    /// Nanoseconds until it is tried again at most.
    var listenAgain: Int64 = 600_000_000_000
}
