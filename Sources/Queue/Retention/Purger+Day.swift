import Operations
import Postgres

/// Somebody is in the way for longer than was to be waited.
struct Blocked: Error {
    let story: String
}

extension Purger {
    /// Purges one day, or says in the report why it stays.
    ///
    /// - Parameter why: what is known already to keep it.
    func purge(_ day: RetentionDay, _ why: String?, _ report: inout PurgeReport) throws {
        if let why {
            report.kept.append(.init(day: day.day, why: why))
            return
        }
        if let kept = try held(day) ?? foreign(day) {
            report.kept.append(kept)
            return
        }
        if request.isRehearsal {
            report.dropped.append(.init(day: day.day, bytes: day.bytes, milliseconds: 0))
            return
        }
        try mark(day)
        let start = ContinuousClock.now
        for parent in RetentionDay.parents {
            guard let place = day.places[parent] else { continue }
            if place != .detached { try detach(day, parent) }
            if parent == "messages", let kept = try putBack(day) {
                report.kept.append(kept)
                return
            }
            try persist("drop \(parent) \(day.day)", day, parent) { () throws(PostgresError) in
                try connection.script("DROP TABLE IF EXISTS \(day.table(parent))")
            }
        }
        let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
        report.dropped.append(.init(day: day.day, bytes: day.bytes, milliseconds: milliseconds))
    }

    /// What of the day is not over.
    private func held(_ day: RetentionDay) throws -> PurgeReport.Kept? {
        let answer = try Held.Answer(connection.query(Held.statement(day, isRehearsal: request.isRehearsal)))
        guard answer.notifications > 0 else { return nil }
        let notifications = "\(answer.notifications) notification\(answer.notifications == 1 ? "" : "s")"
        let why =
            answer.messages > 0
            ? "\(answer.messages) message\(answer.messages == 1 ? " is" : "s are") not at their end, of \(notifications)"
            : "\(notifications) \(answer.notifications == 1 ? "is" : "are") not settled"
        return .init(day: day.day, why: why, notifications: answer.list)
    }

    /// A table that is not ours to drop: of another shape, or detached by somebody else than a purge.
    private func foreign(_ day: RetentionDay) throws -> PurgeReport.Kept? {
        for parent in RetentionDay.parents {
            let table = day.table(parent)
            switch day.places[parent] {
            case .foreign:
                return .init(day: day.day, why: "\(table) is not what todoke made")
            case .detached:
                // A purge marks the notifications before it detaches anything.
                let isOurs = try connection.query(
                    """
                    SELECT NOT EXISTS (SELECT FROM \(table)) OR EXISTS (
                            SELECT FROM todoke.notifications
                            WHERE id = (SELECT notification FROM \(table) LIMIT 1) AND purged_at IS NOT NULL)
                        AND NOT EXISTS (
                            SELECT FROM todoke.notifications WHERE day = \(day.day.sql) AND purged_at IS NULL)
                    """)
                if isOurs.bool(0, 0) != true {
                    return .init(
                        day: day.day,
                        why: "\(table) is no partition any more, and no purge detached it: attach or drop it")
                }
            case .attached, .pending, nil: break
            }
            if let why = try dependents(table, parent) { return .init(day: day.day, why: why) }
        }
        return nil
    }

    /// What somebody else made that keeps the table from being dropped, or its parent from letting go of it.
    private func dependents(_ table: String, _ parent: String) throws -> String? {
        let found = try connection.query(
            """
            SELECT string_agg(DISTINCT what, ', ') FROM (
                SELECT 'view ' || r.ev_class::regclass AS what FROM pg_depend AS d
                JOIN pg_rewrite AS r ON r.oid = d.objid AND r.ev_class <> d.refobjid
                WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = to_regclass($1)
                UNION ALL
                SELECT 'foreign key of ' || c.conrelid::regclass FROM pg_constraint AS c
                WHERE c.contype = 'f' AND c.confrelid IN (to_regclass($1), ('todoke.' || $2)::regclass)
            ) AS others
            """, [.text(table), .text(parent)])
        if !found.isNull(0, 0) {
            return "\(found.string(0, 0)) depends on \(table): drop that, or have it read todoke.\(parent)"
        }
        let other = try connection.query(
            """
            SELECT nullif(p.partdefid, 0)::regclass::text FROM pg_partitioned_table AS p
            WHERE p.partrelid = ('todoke.' || $1)::regclass
            """, [.text(parent)])
        guard !other.isNull(0, 0) else { return nil }
        return "todoke.\(parent) has a default partition, \(other.string(0, 0)), and lets no day go: detach it"
    }

    /// From here on nothing is queued for the day, whatever its transaction takes the time to be.
    private func mark(_ day: RetentionDay) throws {
        var marked = 0
        repeat {
            try persist("mark \(day.day)", day, "notifications") { () throws(PostgresError) in
                // In the order of those who retry, whom it would meet in a circle else.
                marked = try connection.query(
                    """
                    WITH next AS MATERIALIZED (
                        SELECT id FROM todoke.notifications WHERE day = \(day.day.sql) AND purged_at IS NULL
                        ORDER BY id LIMIT 50000 FOR NO KEY UPDATE)
                    UPDATE todoke.notifications SET purged_at = now()
                    WHERE day = \(day.day.sql) AND purged_at IS NULL AND id IN (SELECT id FROM next)
                    """
                ).affectedRows
            }
        } while marked > 0
    }

    private func detach(_ day: RetentionDay, _ parent: String) throws {
        let table = day.table(parent)
        try persist("detach \(parent) \(day.day)", day, parent) { () throws(PostgresError) in
            // What was cut short, just now or by an earlier run, must be brought to its end instead.
            let state = try connection.query(
                "SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = to_regclass($1)", [.text(table)])
            guard state.rowCount == 1 else { return }
            let how = state.bool(0, 0) == true ? "FINALIZE" : "CONCURRENTLY"
            try connection.script("ALTER TABLE todoke.\(parent) DETACH PARTITION \(table) \(how)")
        }
    }

    /// Attaches the day's messages again if one of them came in while they were being detached.
    ///
    /// Nobody should be able to; but what is dropped is gone.
    private func putBack(_ day: RetentionDay) throws -> PurgeReport.Kept? {
        let table = day.table("messages")
        let isThere = try connection.query(
            """
            SELECT EXISTS (SELECT FROM \(table) WHERE state = 'pending') OR EXISTS (SELECT FROM \(table) WHERE state = 'sending')
            """)
        guard isThere.bool(0, 0) == true else { return nil }
        try persist("attach messages \(day.day)", day, "messages") { () throws(PostgresError) in
            try connection.script(
                """
                BEGIN;
                ALTER TABLE todoke.messages ATTACH PARTITION \(table) FOR VALUES FROM (\(day.day.sql)) TO (\(day.day.sql) + 1);
                UPDATE todoke.notifications SET purged_at = NULL, settled_at = NULL, settled_summary = NULL
                WHERE id IN (SELECT notification FROM \(table) WHERE state = 'pending'
                    UNION SELECT notification FROM \(table) WHERE state = 'sending');
                COMMIT
                """)
        }
        return try held(day)
    }

    /// Runs a statement that needs a lock until it gets it, or gives up and says who has it.
    private func persist(
        _ what: String, _ day: RetentionDay, _ parent: String, _ body: () throws(PostgresError) -> Void
    ) throws {
        let deadline = ContinuousClock.now + .milliseconds(request.waitMilliseconds)
        while true {
            try willDo(what)
            do throws(PostgresError) {
                return try body()
            } catch {
                if connection.isInTransaction { try connection.script("ROLLBACK") }
                let isPending = error.sqlState?.rawValue == "55000"
                guard error.sqlState == .lockNotAvailable || error.isRetryable || isPending else { throw error }
                if ContinuousClock.now >= deadline || isPending {
                    throw Blocked(story: "\(what): \(isPending ? error.message : try blockers(day, parent))")
                }
                try connection.query("SELECT pg_sleep(0.2)")
            }
        }
    }

    /// Who holds a lock on the table or on its parent, or has a snapshot from before it was detached.
    private func blockers(_ day: RetentionDay, _ parent: String) throws -> String {
        let rows = try connection.query(
            """
            SELECT a.pid, a.application_name, a.usename FROM pg_stat_activity AS a
            WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND (a.backend_xmin IS NOT NULL OR a.pid IN (
                SELECT l.pid FROM pg_locks AS l WHERE l.granted AND l.relation IN (
                    to_regclass($1), ('todoke.' || $2)::regclass)))
            ORDER BY a.pid IN (
                SELECT l.pid FROM pg_locks AS l WHERE l.granted AND l.relation = to_regclass($1)) DESC,
                age(a.backend_xmin) DESC NULLS LAST, a.pid LIMIT 3
            """, [.text(day.table(parent)), .text(parent)])
        let names = (0..<rows.rowCount).map { row in
            let application = rows.string(row, 1)
            return
                "pid \(rows.string(row, 0)) (\(application.isEmpty ? "" : application + ", ")user \(rows.string(row, 2)))"
        }
        return names.isEmpty ? "somebody held it, who has gone" : "held up by " + names.joined(separator: ", ")
    }
}
