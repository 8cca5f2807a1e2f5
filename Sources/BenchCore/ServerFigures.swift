import Operations
import Postgres

/// What Postgres has done and used so far: of its server when it is on this machine, and of one database.
struct ServerFigures {
    /// Microseconds of processor time of all its processes, those that have ended included; nil when it is elsewhere.
    let cpuMicroseconds: Int?
    /// Transactions of the database: the sender's statements are one each.
    ///
    /// Autovacuum's few count too.
    let statements: Int

    init(_ queue: ScratchQueue) throws(Failure) {
        let rows = try ScratchQueue.attempt("reading the server's figures") { () throws(PostgresError) in
            try queue.server.query(
                """
                SELECT coalesce(xact_commit + xact_rollback, 0), (SELECT array_to_string(array_agg(pid), ' ') FROM pg_stat_activity)
                FROM pg_stat_database WHERE datname = $1
                """, [.text(queue.name)])
        }
        statements = rows.int(0, 0) ?? 0
        let pids = rows.string(0, 1).split(separator: " ").compactMap { Int($0) }
        cpuMicroseconds = Self.cpu(backend: queue.server.backendProcessID, pids: pids)
    }

    private static func cpu(backend: Int, pids: [Int]) -> Int? {
        guard let postmaster = ProcessFigures.parent(backend),
            ProcessFigures.name(postmaster)?.hasPrefix("postgres") == true,
            let server = ProcessFigures.cpu(postmaster)
        else { return nil }
        return pids.reduce(server.own + server.children) { $0 + (ProcessFigures.cpu($1)?.own ?? 0) }
    }

    /// The settings that decide how fast it can be.
    static func settings(_ queue: ScratchQueue) throws(Failure) -> String {
        let rows = try ScratchQueue.attempt("reading the server's settings") { () throws(PostgresError) in
            try queue.server.query(
                """
                SELECT string_agg(name || ' ' || current_setting(name), ', ' ORDER BY name) FROM pg_settings
                WHERE name IN ('server_version', 'fsync', 'synchronous_commit', 'shared_buffers', 'full_page_writes')
                """)
        }
        return rows.string(0, 0)
    }
}
