import Operations
import Postgres
import Queue

/// A database of its own with the schema, its partitions, one app and any number of messages; dropped by ``drop()``.
final class ScratchQueue {
    static let app = "bench"

    let name: String
    /// The server, by a connection that has nothing to do with the scratch database.
    let server: Connection
    let connection: Connection
    /// What programs are told, which may hold a password: for their environment, not for their arguments.
    let connectionText: String
    let day: Day
    private let days: Int
    private let notification: Int
    private var loaded = 0
    /// The statement of ``enqueueOne()`` is there.
    private var canEnqueue = false

    /// Makes it, empty.
    init(url: String?, days: Int, sqlDirectory: String?, program: String) throws(Failure) {
        let files = try MigrationDirectory.files(named: sqlDirectory, program: program)
        name = "todoke_bench_" + String(UInt64.random(in: .min ... .max), radix: 36)
        self.days = days
        connectionText = Self.text(url, database: name)
        let opened = try Self.attempt("connecting to Postgres") { () throws(PostgresError) in
            try Connection(Conninfo(url ?? "dbname=postgres", applicationName: "todoke-bench"))
        }
        server = opened
        try Self.attempt("creating the scratch database") { [name] () throws(PostgresError) in
            try opened.script("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8'")
        }
        do throws(Failure) {
            let text = connectionText
            let connection = try Self.attempt("connecting to the scratch database") { () throws(PostgresError) in
                try Connection(Conninfo(text, applicationName: "todoke-bench"))
            }
            self.connection = connection
            _ = try Migrator(files: files).migrate(connection)
            (day, notification) = try Self.prepare(connection, days: days)
        } catch {
            Self.drop(name, on: opened)
            throw error
        }
    }

    /// Removes the database with all connections to it.
    func drop() { Self.drop(name, on: server) }

    private static func drop(_ name: String, on server: Connection) {
        // What cannot be dropped stays, under a name that says whose it is.
        try? server.script("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    private static func prepare(_ connection: Connection, days: Int) throws(Failure) -> (Day, Int) {
        let row = try attempt("preparing the scratch database") { () throws(PostgresError) in
            // Yesterday and today are two of them. A rate that is never the limit: what is measured is the sender.
            try connection.query("SELECT todoke.ensure_partitions(\(days - 2))")
            try connection.query(
                "INSERT INTO todoke.apps (name, project_id, messages_per_second) VALUES ($1, $2, 2000000000)",
                [.text(app), .text(Sink.project)])
            return try connection.query(
                """
                INSERT INTO todoke.notifications (app, notification_id) SELECT id, 'bench' FROM todoke.apps
                RETURNING to_char(day, 'YYYY-MM-DD'), id
                """)
        }
        guard let day = Day(row.string(0, 0)), let id = row.int(0, 1) else {
            throw Failure(.software, "the schema is not the one that was expected", remedy: "please report this")
        }
        return (day, id)
    }

    /// Brings the number of due messages, of which there are `pending` now, to `count`; an empty queue is emptied for good.
    func fill(to count: Int, pending: Int, _ interruption: Interruption) throws(Failure) {
        if pending == 0 {
            try run("emptying the queue", "TRUNCATE todoke.messages, todoke.payloads, todoke.attempts")
        }
        var missing = count - pending
        while missing > 0 {
            try interruption.check()
            let batch = min(missing, 50_000)
            try load(batch)
            missing -= batch
        }
        // Its pages are written now and not during the measurement; only some users may ask for it.
        try? connection.script("CHECKPOINT")
    }

    private func load(_ count: Int) throws(Failure) {
        let ids = "generate_series(\(loaded + 1)::bigint, \(loaded + count)::bigint) AS g"
        try run(
            "loading the queue",
            """
            INSERT INTO todoke.payloads (id, day, notification, target_kind, target, dedupe_key, payload)
            SELECT g, \(day.sql), \(notification), 'token', 'bench-' || g, md5(g::text)::uuid, \(SamplePayload.sql(number: "g"))
            FROM \(ids);
            INSERT INTO todoke.messages (id, day, notification, app)
            SELECT g, \(day.sql), \(notification), (SELECT id FROM todoke.apps) FROM \(ids);
            SELECT setval('todoke.message_id_seq', \(loaded + count))
            """)
        loaded += count
    }

    /// Queues one message as an application does, in a transaction of its own, with the wake-up.
    ///
    /// The plans are kept from one to the next, as they are in a function and by a driver.
    func enqueueOne() throws(Failure) -> Int {
        loaded += 1
        if !canEnqueue {
            try run(
                "preparing to queue",
                """
                PREPARE enqueue(bigint) AS
                WITH payload AS (
                    INSERT INTO todoke.payloads (id, day, notification, target_kind, target, dedupe_key, payload)
                    VALUES ($1, \(day.sql), \(notification), 'token', 'bench-' || $1, md5($1::text)::uuid,
                        \(SamplePayload.sql(number: "$1")))
                ), message AS (
                    INSERT INTO todoke.messages (id, day, notification, app)
                    VALUES ($1, \(day.sql), \(notification), (SELECT id FROM todoke.apps))
                )
                SELECT pg_notify('todoke_due', '\(Self.app)')
                """)
            canEnqueue = true
        }
        try run("queueing a message", "EXECUTE enqueue(\(loaded))")
        return loaded
    }

    func run(_ doing: String, _ sql: String) throws(Failure) {
        try Self.attempt(doing) { () throws(PostgresError) in try connection.script(sql) }
    }

    func query(
        _ doing: String, _ sql: String, _ parameters: [Value] = [], format: ResultFormat = .text
    ) throws(Failure) -> QueryResult {
        try Self.attempt(doing) { () throws(PostgresError) in try connection.query(sql, parameters, format: format) }
    }

    static func attempt<R>(_ doing: String, _ body: () throws(PostgresError) -> R) throws(Failure) -> R {
        do throws(PostgresError) { return try body() } catch { throw Failure(error, while: doing) }
    }

    /// The same server with another database: in both forms of a connection string the last word counts.
    private static func text(_ url: String?, database: String) -> String {
        guard let url, !url.isEmpty else { return "dbname=\(database)" }
        guard url.contains("://") else { return "\(url) dbname=\(database)" }
        return url + (url.contains("?") ? "&" : "?") + "dbname=\(database)"
    }
}
