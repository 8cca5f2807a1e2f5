import Postgres

/// A notification that keeps its day from being purged.
package struct Held: Equatable, Sendable {
    package let app: String
    /// `nil` when somebody deleted its row and left its messages.
    package let notificationID: String?
    /// Its messages that are not at their end.
    package let messages: Int
    /// Until when it takes more, in UTC; `nil` when that is not what keeps it.
    package let opensUntil: String?

    /// How many are listed.
    package static let limit = 10

    /// The first ones that keep a day, those with most messages before the others, and how many there are.
    ///
    /// - Parameter isRehearsal: nothing was settled, so what could be settled does not count.
    static func statement(_ day: RetentionDay, isRehearsal: Bool) -> String {
        let table = day.table("messages")
        let unfinished =
            day.places["messages"] == nil
            ? "SELECT NULL::bigint AS notification, NULL::int AS app WHERE false"
            : """
            SELECT notification, app FROM \(table) WHERE state = 'pending'
            UNION ALL SELECT notification, app FROM \(table) WHERE state = 'sending'
            """
        let open = "(closes_at > now() - interval '1 hour' OR run_until >= now())"
        return """
            WITH unfinished AS (
                SELECT notification, app, count(*) AS messages FROM (\(unfinished)) AS rows GROUP BY notification, app
            ), unsettled AS (
                SELECT id, app, \(open) AS is_open, closes_at FROM todoke.notifications
                WHERE day = \(day.day.sql) AND (settled_at IS NULL) AND purged_at IS NULL
                    \(isRehearsal ? "AND \(open)" : "")
            ), held AS (
                SELECT coalesce(u.notification, s.id) AS notification, coalesce(u.app, s.app) AS app, u.messages, s.is_open
                FROM unfinished AS u FULL JOIN unsettled AS s ON s.id = u.notification
            )
            SELECT a.name, n.notification_id, h.messages,
                CASE WHEN h.is_open THEN to_char(n.closes_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') END,
                count(*) OVER (), (sum(h.messages) OVER ())::bigint
            FROM held AS h LEFT JOIN todoke.notifications AS n ON n.id = h.notification
                LEFT JOIN todoke.apps AS a ON a.id = h.app
            ORDER BY h.messages DESC NULLS LAST, h.notification LIMIT \(limit)
            """
    }

    /// What ``statement(_:isRehearsal:)`` found: the list, and the whole numbers.
    struct Answer: Equatable {
        var list: [Held] = []
        var notifications = 0
        var messages = 0

        init(_ result: QueryResult) {
            for row in 0..<result.rowCount {
                list.append(
                    Held(
                        app: result.string(row, 0), notificationID: result.optionalString(row, 1),
                        messages: result.int(row, 2) ?? 0, opensUntil: result.optionalString(row, 3)))
            }
            notifications = result.int(0, 4) ?? 0
            messages = result.int(0, 5) ?? 0
        }
    }
}
