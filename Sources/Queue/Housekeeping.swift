package import Postgres

/// What any sender does for all, every now and then.
///
/// Messages that expire while nobody can claim them, of a paused app or behind an open breaker, come to their end here.
/// There is no index on the end of life, so the index of claims is walked from where the last look got to, 1,000 rows a
/// statement; a row that is locked is somebody else's to end.
package enum Housekeeping {
    package static let limit = 1_000
    /// Nanoseconds between two looks.
    package static let interval: Int64 = 10_000_000_000
    /// Statements in a row for one look: what a backlog may cost.
    package static let statementsPerLook = 50
    /// Nanoseconds between two looks at partitions and senders.
    package static let rareInterval: Int64 = 3_600_000_000_000
    /// Nanoseconds until one that failed is done again.
    package static let repeatInterval: Int64 = 60_000_000_000
    /// What ``decode(_:)`` reads.
    package static let format = ResultFormat.binary

    /// What one step found.
    package struct Step: Equatable, Sendable {
        package let expired: Int
        /// Where to go on; `nil` at the end.
        package let next: Claim.Floor?
    }

    /// The places in the order of a walk that goes on behind the one where the last ended, and comes round to it.
    package static func order(_ places: [Work.Due], after last: Work.Due?) -> [Work.Due] {
        guard let last else { return places }
        func rank(_ place: Work.Due) -> (Int, Day, Int) { (-place.priority, place.day, place.app) }
        // The last one may be empty by now.
        let next = places.firstIndex { rank($0) > rank(last) } ?? 0
        return Array(places[next...] + places[..<next])
    }

    /// Ends what expired among the next ``limit`` due rows of one app, priority and day, in id order.
    package static func statement(_ place: Work.Due, after floor: Claim.Floor?) -> String {
        """
        WITH looked AS MATERIALIZED (
            SELECT id, due_at, expires_at FROM todoke.messages
            WHERE day = \(place.day.sql) AND app = \(place.app) AND priority = \(place.priority) AND state = 'pending'
                AND due_at <= now()\(floor.map { " AND (due_at, id) > \($0.sql)" } ?? "")
            ORDER BY due_at, id LIMIT \(limit)
        ), locked AS MATERIALIZED (
            SELECT ctid AS place FROM todoke.messages
            WHERE day = \(place.day.sql) AND id = ANY (ARRAY(SELECT id FROM looked WHERE expires_at <= now()))
                AND state < 'sending'
            ORDER BY id FOR UPDATE SKIP LOCKED
        ), expired AS (
            UPDATE todoke.messages m SET state = 'expired', finished_at = now()
            WHERE m.day = \(place.day.sql) AND m.ctid = ANY (ARRAY(SELECT place FROM locked))
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM expired), count(*) OVER (), due_at, id
        FROM looked ORDER BY due_at DESC, id DESC LIMIT 1
        """
    }

    package static func decode(_ result: QueryResult) -> Step {
        guard let expired = result.int(0, 0), let looked = result.int(0, 1), let dueAt = result.int(0, 2),
            let id = result.int(0, 3)
        else { return Step(expired: 0, next: nil) }
        let isMore = looked == limit && dueAt != .min
        return Step(expired: expired, next: isMore ? Claim.Floor(dueAt: dueAt, id: id) : nil)
    }

    /// Makes the partitions of the days ahead, whoever is first.
    package static let partitionsStatement = "SELECT todoke.ensure_partitions()"

    /// Forgets the senders that nobody heard of for a month: by then the days they sent for are usually gone.
    package static let sendersStatement = """
        DELETE FROM todoke.senders WHERE heartbeat_at < now() - interval '30 days'
        """
}
