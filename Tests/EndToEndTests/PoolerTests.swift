import Foundation
import Glibc
import Postgres
import Testing

extension EndToEnd {
    /// Behind Debian's pgbouncer, every transaction on whatever session is free.
    @Suite("Behind a pooler of transactions")
    struct PoolerTests {
        /// 3,000 messages; 100,000 with TODOKE_TEST_SCALE=full.
        @Test("A drain through pgbouncer, which is killed in the middle and comes back: nothing is lost")
        func drainThroughAPooler() throws {
            let count = messages(quick: 3_000, full: 100_000)
            let pipeline = try Pipeline()
            try pipeline.queue(count, "pooled")
            let pooler = try Pooler(pipeline)
            let sender = try pipeline.sender(["--drain", "--database-url", pooler.databaseURL])
            try wait(for: "some are sent") { try pipeline.states()["sent", default: 0] > count / 10 }
            pooler.kill()
            _ = try sender.line(with: "no database")
            try pooler.start()
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            #expect(try pipeline.states() == ["sent": count])
            let arrivals = try pipeline.arrivalsByToken()
            #expect(arrivals.count == count)
            // The connection to the provider was never lost, and results were kept: nothing was posted twice.
            #expect(arrivals.values.allSatisfy { $0 == 1 })
        }

        /// LISTEN does nothing there: the sender polls, and with --direct-database-url it listens past the pooler.
        @Test("Wake-ups come past the pooler, or the sender polls", arguments: [false, true])
        func wakesUp(direct: Bool) throws {
            let pipeline = try Pipeline()
            let pooler = try Pooler(pipeline)
            // With a poll that comes only after the test's patience, what is sent was heard of.
            var arguments = ["--database-url", pooler.databaseURL]
            arguments += ["--poll-interval", direct ? "60000" : "100"]
            if direct { arguments += ["--direct-database-url", pipeline.databaseURL] }
            let sender = try pipeline.sender(arguments)
            try wait(for: "the sender is registered") {
                try pipeline.number("SELECT count(*) FROM todoke.senders") == 1
            }
            if direct {
                // The last step of the proof, or the question after it, which only that connection asks.
                try wait(for: "it listens") {
                    try pipeline.number(
                        """
                        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                            AND (query ILIKE 'UNLISTEN%' OR query LIKE '%VALUES (1, 6)%')
                        """
                    ) == 1
                }
            }
            try pipeline.queue(10, "woken")
            if direct { try pipeline.database.script("NOTIFY todoke_due, 'recipes'") }
            try wait(for: "everything is sent", within: 50) { try pipeline.states() == ["sent": 10] }
            sender.send(SIGTERM)
            #expect(try sender.end().exitCode == 0)
        }
    }
}

/// Debian's pgbouncer in front of a pipeline's database, with two sessions for everybody.
final class Pooler {
    private let directory: URL
    private let port: Int
    private let database: String
    private var process: RunningProgram?

    init(_ pipeline: Pipeline) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("pgb-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        // Only part of the name of a socket: nobody else's is in this directory.
        port = 6_432
        let environment = ProcessInfo.processInfo.environment
        let user = environment["PGUSER"] ?? "postgres"
        database = try pipeline.database.query("SELECT current_database()").string(0, 0)
        let server = [
            "host=\(environment["PGHOST"] ?? "/var/run/postgresql")", "port=\(environment["PGPORT"] ?? "5432")",
            "user=\(user)", environment["PGPASSWORD"].map { "password=\($0)" } ?? "",
        ]
        let settings = """
            [databases]
            \(database) = \(server.joined(separator: " "))
            [pgbouncer]
            listen_addr =
            unix_socket_dir = \(directory.path)
            listen_port = \(port)
            auth_type = any
            pool_mode = transaction
            default_pool_size = 2
            """
        try Data(settings.utf8).write(to: directory.appendingPathComponent("pgbouncer.ini"))
        if getuid() == 0 {
            // It refuses to run as root.
            for path in [directory.path, directory.path + "/pgbouncer.ini"] { try Self.hand(path, to: Self.user) }
        }
        try start()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Who may reach the server: the owner of its socket's directory, which may be closed to others.
    private static var user: String {
        var facts = stat()
        guard let directory = ProcessInfo.processInfo.environment["PGHOST"], directory.hasPrefix("/"),
            stat(directory, &facts) == 0, facts.st_uid != 0, let entry = getpwuid(facts.st_uid)
        else { return "nobody" }
        return String(cString: entry.pointee.pw_name)
    }

    var databaseURL: String { "host=\(directory.path) port=\(port) dbname=\(database)" }

    func start() throws {
        let asOther = getuid() == 0 ? ["-u", Self.user] : []
        process = try RunningProgram(
            path: "/usr/sbin/pgbouncer", "pgbouncer",
            asOther + [directory.appendingPathComponent("pgbouncer.ini").path], input: nil, [:])
        _ = try process?.line(with: "process up")
    }

    func kill() {
        process?.send(SIGKILL)
        _ = try? process?.end()
        process = nil
        try? FileManager.default.removeItem(at: directory.appendingPathComponent(".s.PGSQL.\(port)"))
    }

    private static func hand(_ path: String, to user: String) throws {
        guard let entry = getpwnam(user), chown(path, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
            throw Late(description: "\(path) cannot be handed to \(user)")
        }
    }
}
