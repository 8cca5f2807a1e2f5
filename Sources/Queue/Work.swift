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
        /// Senders that serve the app and were heard of within ``heartbeatSeconds`` × 3, and the one that asks.
        package let liveSenders: Int
        /// Unless a notification says otherwise, an unknown outcome ends its messages as failed.
        package let isAtMostOnce: Bool
        /// For how long its oldest due message has been due; `nil` when none is, or the app is paused.
        package var oldestDueMilliseconds: Int?

        package init(
            id: Int, name: String, projectID: String, isPaused: Bool, messagesPerSecond: Int, liveSenders: Int,
            isAtMostOnce: Bool = false, oldestDueMilliseconds: Int? = nil
        ) {
            self.id = id
            self.name = name
            self.projectID = projectID
            self.isPaused = isPaused
            self.messagesPerSecond = messagesPerSecond
            self.liveSenders = liveSenders
            self.isAtMostOnce = isAtMostOnce
            self.oldestDueMilliseconds = oldestDueMilliseconds
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

    /// Apps by name; parameters: names (text array), the sender that asks (which is alive, however late its heartbeat).
    package static let appsStatement = """
        SELECT a.id, a.name, a.project_id, a.paused_at IS NOT NULL, a.messages_per_second,
            (SELECT count(*) FROM todoke.senders s WHERE s.id = $2::bigint OR s.stopped_at IS NULL
                AND a.name = ANY (s.apps) AND s.heartbeat_at > now() - interval '\(heartbeatSeconds * 3) s'),
            a.delivery = 'at_most_once'
        FROM todoke.apps a WHERE a.name = ANY ($1::text[]) AND a.provider = 'fcm' ORDER BY a.id
        """

    package static func decodeApps(_ result: QueryResult) -> [App] {
        (0..<result.rowCount).compactMap { row in
            guard let id = result.int(row, 0) else { return nil }
            return App(
                id: id, name: result.string(row, 1), projectID: result.string(row, 2),
                isPaused: result.string(row, 3) == "t", messagesPerSecond: result.int(row, 4) ?? 1,
                liveSenders: max(1, result.int(row, 5) ?? 1), isAtMostOnce: result.bool(row, 6) ?? false)
        }
    }

    /// The days that have a partition and may hold messages, oldest first: a message's day is never ahead of today.
    ///
    /// Here and elsewhere days are written with `to_char`: a cast to text follows the server's `DateStyle`.
    package static let daysStatement = """
        SELECT to_char(d.day, 'YYYY-MM-DD') FROM todoke.message_days() AS d(day)
        WHERE d.day <= (now() AT TIME ZONE 'UTC')::date + 1 ORDER BY 1
        """

    package static func decodeDays(_ result: QueryResult) -> [Day] {
        (0..<result.rowCount).compactMap { Day(result.string($0, 0)) }
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
