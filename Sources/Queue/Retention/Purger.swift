import Operations
package import Postgres

/// Settles what is over, and drops the days that are old enough: what `todoke purge` does.
///
/// Each step is a statement of its own that commits, in an order in which the next run takes up what a killed one left:
/// a day's numbers are settled, its notifications are marked as purged (from then on nothing is queued for them, however
/// old the transaction that asks), its tables are detached one after the other, looked at once more, and dropped.
package struct Purger {
    /// What is asked for.
    package struct Request: Sendable {
        /// Days that ended so long ago are dropped.
        package var olderThanSeconds: Int
        /// Events of notifications made so long ago are deleted; `nil` keeps all.
        package var eventsOlderThanSeconds: Int?
        /// Changes nothing.
        package var isRehearsal = false
        /// How long to wait for those who are in the way.
        package var waitMilliseconds = 60_000

        package init(olderThanSeconds: Int) { self.olderThanSeconds = olderThanSeconds }
    }

    let connection: Connection
    let request: Request
    /// Called before each statement that changes something, with what it is for.
    let willDo: (String) throws -> Void

    package init(
        _ connection: Connection, _ request: Request, willDo: @escaping (String) throws -> Void = { _ in }
    ) {
        self.connection = connection
        self.request = request
        self.willDo = willDo
    }

    /// Readers and writers never wait longer than this for a purge; a session whose program is gone ends, also while it waits.
    private static let session = """
        SET ROLE todoke_owner; SET lock_timeout = '2s'; SET statement_timeout = 0; SET datestyle = 'ISO, YMD'; SET timezone = 'UTC';
        SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off; SET jit = off;
        SET client_connection_check_interval = '2s'
        """

    package func run() throws -> PurgeReport {
        var report = PurgeReport()
        try connection.script(Self.session)
        try takeTurn()
        defer { _ = try? connection.query("SELECT pg_advisory_unlock(hashtextextended('todoke purge', 0))") }
        let cutoff = try firstKeptDay(request.olderThanSeconds)
        var kept: [Day: String] = [:]
        if !request.isRehearsal { try settle(&report, &kept) }
        let days = try RetentionDay.decode(connection.query(RetentionDay.statement, [.text(cutoff.description)]))
        // A parent takes no second DETACH while one is under way, whatever day that is of.
        for day in days.filter({ $0.places.values.contains(.pending) })
            + days.filter({ !$0.places.values.contains(.pending) })
        {
            do {
                try purge(day, kept[day.day], &report)
            } catch let error as Blocked {
                report.blocked = error.story
                break
            } catch let error as PostgresError where Self.isOfOneDay(error) {
                // Its detail names what depends; that of others may quote a row.
                let detail = error.sqlState?.rawValue == "2BP01" ? error.detail : nil
                let what = [error.message, detail].compactMap { $0 }.joined(separator: ": ")
                report.kept.append(.init(day: day.day, why: what))
            }
        }
        if let seconds = request.eventsOlderThanSeconds, !request.isRehearsal {
            let cutoff = try firstKeptDay(seconds)
            var next: Int? = 0
            while let after = next {
                try willDo("events")
                let step = try connection.query(
                    "SELECT deleted, next FROM todoke.settle_events($1::date, $2::bigint)",
                    [.text(cutoff.description), .int(after)])
                report.events += step.int(0, 0) ?? 0
                next = step.int(0, 1)
            }
        }
        report.dropped.sort { $0.day < $1.day }
        report.kept.sort { $0.day < $1.day }
        return report
    }

    /// Something depends on a table of the day (2BP01), or it is not the owner's: the other days can go all the same.
    private static func isOfOneDay(_ error: PostgresError) -> Bool {
        error.sqlState?.rawValue == "2BP01" || error.sqlState == .insufficientPrivilege
    }

    /// Two purges would be in each other's way.
    private func takeTurn() throws {
        let lock = try connection.query("SELECT pg_try_advisory_lock(hashtextextended('todoke purge', 0))")
        guard lock.bool(0, 0) != true else { return }
        let holder = try connection.query(
            """
            SELECT max(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND (classid::bigint << 32) | objid::bigint = hashtextextended('todoke purge', 0)
            """)
        throw Failure(
            .temporary, "another todoke purge is at work, in the session with pid \(holder.string(0, 0))",
            remedy: "let it end; it does the same")
    }

    private func firstKeptDay(_ seconds: Int) throws -> Day {
        let text = try connection.query(
            "SELECT to_char((now() - make_interval(secs => $1)) AT TIME ZONE 'UTC', 'YYYY-MM-DD')", [.int(seconds)]
        ).string(0, 0)
        guard let day = Day(text) else {
            throw Failure(.usage, "there was no day so long ago", remedy: "give a shorter time")
        }
        return day
    }

    /// The days that have notifications which are not purged: from one to the next through their index.
    private static let openDays = """
        WITH RECURSIVE days AS (
            (SELECT day FROM todoke.notifications WHERE purged_at IS NULL ORDER BY day LIMIT 1)
            UNION ALL
            SELECT (SELECT n.day FROM todoke.notifications AS n WHERE n.purged_at IS NULL AND n.day > d.day
                ORDER BY n.day LIMIT 1)
            FROM days AS d WHERE d.day IS NOT NULL
        )
        SELECT to_char(d.day, 'YYYY-MM-DD') FROM days AS d
        WHERE d.day < (now() AT TIME ZONE 'UTC')::date AND EXISTS (
            SELECT FROM todoke.notifications AS n WHERE n.day = d.day AND (n.settled_at IS NULL) AND n.purged_at IS NULL)
        ORDER BY d.day
        """

    private func settle(_ report: inout PurgeReport, _ kept: inout [Day: String]) throws {
        let days = try connection.query(Self.openDays)
        for day in (0..<days.rowCount).compactMap({ Day(days.string($0, 0)) }) {
            var next: Int? = 0
            while let after = next {
                try willDo("settle \(day)")
                do throws(PostgresError) {
                    let step = try connection.query(
                        "SELECT settled, next FROM todoke.settle_day(\(day.sql), $1::bigint)", [.int(after)])
                    report.settled += step.int(0, 0) ?? 0
                    next = step.int(0, 1)
                } catch {
                    // Somebody writes into it, or took its table away: the others can be settled all the same.
                    guard [.lockNotAvailable, .deadlockDetected, .notInPrerequisiteState].contains(error.sqlState)
                    else { throw error }
                    kept[day] = error.message
                    next = nil
                }
            }
        }
    }
}

extension SQLState {
    fileprivate static let notInPrerequisiteState = SQLState(rawValue: "55000")
}
