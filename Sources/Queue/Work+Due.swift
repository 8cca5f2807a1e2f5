package import Postgres

extension Work {
    /// What the probes found.
    package struct DueAnswer: Equatable, Sendable {
        /// The places where something is due, higher priorities and older days first.
        package var due: [Due] = []
        /// Until something is due elsewhere, if anything is.
        package var nextInMilliseconds: Int?
        /// By app, for how long its oldest due message has been due.
        package var oldestDueMilliseconds: [Int: Int] = [:]
    }

    /// The next due message of each app, priority and day: one index probe each, higher priorities and older days first.
    ///
    /// The days are literals, so that each probe is planned on its own partition. The answer is in milliseconds from now,
    /// at most a day either way: negative for what is due.
    package static func dueStatement(
        apps: [Int], days: [Day], priorities: ClosedRange<Int> = 0...9
    ) -> String {
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
            SELECT app, priority, to_char(day, 'YYYY-MM-DD'), due_at <= now(), ceil(extract(epoch FROM
                least(greatest(due_at, now() - interval '1 day'), now() + interval '1 day') - now()) * 1000)::bigint
            FROM found ORDER BY priority DESC, day, app
            """
    }

    package static func decodeDue(_ result: QueryResult) -> DueAnswer {
        var answer = DueAnswer()
        for row in 0..<result.rowCount {
            guard let app = result.int(row, 0), let priority = result.int(row, 1), let day = Day(result.string(row, 2)),
                let isDue = result.bool(row, 3), let milliseconds = result.int(row, 4)
            else { continue }
            if isDue {
                answer.due.append(Due(app: app, priority: priority, day: day))
                answer.oldestDueMilliseconds[app] = max(
                    answer.oldestDueMilliseconds[app] ?? 0, max(0, -milliseconds))
            } else {
                answer.nextInMilliseconds = min(answer.nextInMilliseconds ?? .max, max(1, milliseconds))
            }
        }
        return answer
    }
}
