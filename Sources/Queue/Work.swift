package import Postgres

/// What a sender asks before it claims: its apps, the partitions that exist, and where messages are due.
package enum Work {
    /// An app as `todoke.apps` has it now.
    package struct App: Equatable, Sendable {
        package let id: Int
        package let name: String
        package let projectID: String
        package let isPaused: Bool
        package let messagesPerSecond: Int
        /// Senders that serve the app and were heard of within ``heartbeatSeconds`` × 3, this one included.
        package let liveSenders: Int

        package init(
            id: Int, name: String, projectID: String, isPaused: Bool, messagesPerSecond: Int, liveSenders: Int
        ) {
            self.id = id
            self.name = name
            self.projectID = projectID
            self.isPaused = isPaused
            self.messagesPerSecond = messagesPerSecond
            self.liveSenders = liveSenders
        }
    }

    /// A place where messages are due: one claim statement's worth of literals.
    package struct Due: Hashable, Sendable {
        package let app: Int
        package let priority: Int
        package let day: Day

        package init(app: Int, priority: Int, day: Day) {
            self.app = app
            self.priority = priority
            self.day = day
        }
    }

    /// Above the normal one: what somebody waits for.
    package static let urgentPriorities = 6...9

    /// Seconds between the heartbeats of a sender.
    package static let heartbeatSeconds = 5

    /// Apps by name; `$1` is a text array.
    package static let appsStatement = """
        SELECT a.id, a.name, a.project_id, a.paused_at IS NOT NULL, a.messages_per_second,
            (SELECT count(*) FROM todoke.senders s WHERE s.stopped_at IS NULL AND a.name = ANY (s.apps)
                AND s.heartbeat_at > now() - interval '\(heartbeatSeconds * 3) s')
        FROM todoke.apps a WHERE a.name = ANY ($1::text[]) AND a.provider = 'fcm' ORDER BY a.id
        """

    package static func decodeApps(_ result: QueryResult) -> [App] {
        (0..<result.rowCount).compactMap { row in
            guard let id = result.int(row, 0) else { return nil }
            return App(
                id: id, name: result.string(row, 1), projectID: result.string(row, 2),
                isPaused: result.string(row, 3) == "t", messagesPerSecond: result.int(row, 4) ?? 1,
                liveSenders: max(1, result.int(row, 5) ?? 1))
        }
    }

    /// The days that have a partition and may hold messages, oldest first: a message's day is never ahead of today.
    package static let daysStatement = """
        SELECT d.day::text FROM todoke.message_days() AS d(day)
        WHERE d.day <= (now() AT TIME ZONE 'UTC')::date + 1 ORDER BY 1
        """

    package static func decodeDays(_ result: QueryResult) -> [Day] {
        (0..<result.rowCount).compactMap { Day(result.string($0, 0)) }
    }

    /// The next due message of each app, priority and day: one index probe each, higher priorities and older days first.
    ///
    /// The days are literals, so that each probe is planned on its own partition.
    package static func dueStatement(apps: [Int], days: [Day], priorities: ClosedRange<Int> = 0...9) -> String {
        let candidates = apps.flatMap { app in priorities.map { "(\(app), \($0))" } }.joined(separator: ", ")
        let probes = days.map { day in
            """
            SELECT c.app, c.priority, \(day.sql) AS day, hit.due_at FROM candidates c CROSS JOIN LATERAL (
                SELECT m.due_at FROM todoke.messages m WHERE m.day = \(day.sql) AND m.app = c.app
                    AND m.priority = c.priority AND m.state = 'pending' ORDER BY m.due_at LIMIT 1) AS hit
            """
        }
        return """
            WITH candidates(app, priority) AS MATERIALIZED (VALUES \(candidates)), found AS (
            \(probes.joined(separator: "\nUNION ALL\n"))
            )
            SELECT app, priority, day::text, ceil(extract(epoch FROM greatest(now(), least(due_at, now() + interval '1 day')) - now()) * 1000)::bigint
            FROM found ORDER BY priority DESC, day, app
            """
    }

    /// The places where something is due, and the milliseconds until something is due elsewhere, if anything is.
    package static func decodeDue(_ result: QueryResult) -> (due: [Due], nextInMilliseconds: Int?) {
        var due: [Due] = []
        var next: Int?
        for row in 0..<result.rowCount {
            guard let app = result.int(row, 0), let priority = result.int(row, 1), let day = Day(result.string(row, 2)),
                let milliseconds = result.int(row, 3)
            else { continue }
            if milliseconds == 0 {
                due.append(Due(app: app, priority: priority, day: day))
            } else {
                next = min(next ?? .max, milliseconds)
            }
        }
        return (due, next)
    }

    /// Whether anything still holds a drain beside what is due: rows that somebody is sending, or that went back to
    /// `pending` after a claim.
    ///
    /// Scheduled first attempts do not, nor do paused apps.
    package static func unfinishedStatement(apps: [Int]) -> String {
        let list = apps.map(String.init).joined(separator: ", ")
        return """
            SELECT EXISTS (SELECT FROM todoke.messages WHERE app IN (\(list)) AND state = 'sending' LIMIT 1)
                OR EXISTS (SELECT FROM todoke.messages WHERE app IN (\(list)) AND state = 'pending' AND claim_no > 0 LIMIT 1)
            """
    }
}
