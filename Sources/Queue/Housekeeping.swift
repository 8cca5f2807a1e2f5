/// Messages that expire while nobody can claim them, of a paused app or behind an open breaker, come to their end here.
///
/// Bounded: at most 1,000 rows a statement, found on the index of claims.
package enum Housekeeping {
    package static let limit = 1_000
    /// Nanoseconds between two looks.
    package static let interval: Int64 = 10_000_000_000

    /// The statement; its only row and column is the number of rows that expired.
    package static func statement(apps: [Int], days: [Day]) -> String {
        let list = apps.map(String.init).joined(separator: ", ")
        let dates = days.isEmpty ? "NULL" : days.map(\.sql).joined(separator: ", ")
        return """
            WITH old AS MATERIALIZED (
                SELECT id, day FROM todoke.messages
                WHERE day IN (\(dates)) AND app IN (\(list)) AND state = 'pending' AND due_at <= now()
                    AND expires_at <= now()
                ORDER BY id LIMIT \(limit) FOR UPDATE SKIP LOCKED
            ), expired AS (
                UPDATE todoke.messages m SET state = 'expired', finished_at = now()
                WHERE m.id = ANY (ARRAY(SELECT id FROM old)) AND m.day = ANY (ARRAY(SELECT DISTINCT day FROM old))
                    AND m.state = 'pending'
                RETURNING 1
            )
            SELECT count(*) FROM expired
            """
    }
}
