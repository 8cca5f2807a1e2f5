import Foundation
import Glibc
import Postgres

/// A Postgres of its own, which a test may stop and start; removed with the last reference.
///
/// Reached by its socket only. Durable enough for what happens here: a server killed, not a machine.
final class OwnPostgres {
    enum Stop: String {
        /// Ends the sessions and writes everything down.
        case fast
        /// Ends as after a crash: the next start replays the log.
        case immediate
    }

    /// Where it is, as `key=value` text without a database.
    var place: String { "host=\(directory) port=5432 user=postgres" }

    /// Both of a pair, for who connects to whichever of them takes writes.
    func place(or other: OwnPostgres) -> String {
        "host=\(directory),\(other.directory) port=5432,5432 user=postgres"
    }

    private let directory: String
    private let programs: String
    private var data: String { directory + "/data" }

    init() throws {
        programs = try Self.findPrograms()
        directory = try Self.makeDirectory()
        try run(
            "initdb", "--pgdata=\(data)", "--username=postgres", "--auth=trust", "--encoding=UTF8",
            "--locale=C.UTF-8", "--no-sync", "--no-instructions")
        try start()
    }

    /// A standby of that server, which follows it and takes no writes.
    ///
    /// The server confirms a COMMIT only when the standby has it, once ``awaitStandby()`` was called.
    init(following primary: OwnPostgres) throws {
        programs = primary.programs
        directory = try Self.makeDirectory()
        try run(
            "pg_basebackup", "--host=\(primary.directory)", "--port=5432", "--username=postgres", "--no-password",
            "--pgdata=\(data)", "--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--no-sync")
        try start()
    }

    /// Lets no COMMIT be confirmed from now on before a standby has it.
    func awaitStandby() throws {
        let connection = try Connection(Conninfo(place + " dbname=postgres", applicationName: "todoke tests"))
        try connection.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try connection.query("SELECT pg_reload_conf()")
        try wait(for: "the standby is a synchronous one") {
            try connection.query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").int(0, 0) == 1
        }
    }

    /// Makes a standby the server that takes writes, and waits until it does.
    func promote() throws { try run("pg_ctl", "promote", "--pgdata=\(data)", "--wait", "--timeout=60") }

    deinit {
        try? stop(.immediate)
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Starts it, and waits until it takes connections.
    func start() throws {
        let options =
            // Without its port it would take the one that PGPORT names, which is another server's.
            "-p 5432 -k \(directory) -c listen_addresses= -c fsync=off -c shared_buffers=64MB -c max_connections=50"
            + " -c autovacuum_naptime=10s"
        try run(
            "pg_ctl", "start", "--pgdata=\(data)", "--wait", "--timeout=60", "--log=\(directory)/log",
            "--options=\(options)")
    }

    /// Stops it, and waits until it is gone.
    func stop(_ how: Stop) throws {
        try run("pg_ctl", "stop", "--pgdata=\(data)", "--wait", "--timeout=60", "--mode=\(how.rawValue)")
    }

    private func run(_ program: String, _ arguments: String...) throws {
        var command = ["\(programs)/\(program)"] + arguments
        // Postgres refuses to run as root.
        if geteuid() == 0 { command = ["/usr/sbin/runuser", "-u", Self.user, "--"] + command }
        let ended = try RunningProgram(
            path: command[0], program, Array(command.dropFirst()), input: nil, ["LC_ALL": "C"]
        ).end()
        guard ended.exitCode == 0 else {
            let log = (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? ""
            throw Late(description: "\(ended.story)\n\(log.suffix(2000))")
        }
    }

    private static let user = "postgres"

    /// A directory in which that user may make a socket: its path must be short, and open down to there.
    private static func makeDirectory() throws -> String {
        let parent = FileManager.default.temporaryDirectory.path
        var template = Array(((parent.utf8.count > 60 ? "/tmp" : parent) + "/todoke-pg.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw Late(description: "no directory for Postgres: errno \(errno)") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if geteuid() == 0 {
            guard let owner = getpwnam(user), chown(path, owner.pointee.pw_uid, owner.pointee.pw_gid) == 0 else {
                throw Late(description: "\(path) cannot be given to the user \(user): errno \(errno)")
            }
        }
        return path
    }

    /// Debian keeps the server's programs apart, by version; the newest are taken.
    private static func findPrograms() throws -> String {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let newest = versions.compactMap { Int($0) }.filter {
            FileManager.default.isExecutableFile(atPath: "/usr/lib/postgresql/\($0)/bin/initdb")
        }.max()
        guard let newest else { throw Late(description: "there is no server in /usr/lib/postgresql") }
        return "/usr/lib/postgresql/\(newest)/bin"
    }
}
