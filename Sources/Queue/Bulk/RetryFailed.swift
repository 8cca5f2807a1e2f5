package import Postgres

/// Failed messages go back to `pending`: one bounded batch a statement, each its own transaction, until the cursor ends.
package struct RetryFailed: Equatable, Sendable {
    package let app: String
    package var notificationID: String?
    /// Any of these error codes; none is all but `OUTCOME_UNKNOWN`.
    package var codes: [String] = []
    /// Seconds since 1970 between which they failed.
    package var since: Int?
    package var until: Int?
    package var message: Int?
    package var isDryRun = false

    package init(app: String) { self.app = app }

    /// Messages looked at by one statement.
    package static let batch = 1_000

    /// Where the next batch begins.
    package struct Cursor: Equatable, Sendable {
        package let day: Day
        let afterID: Int
    }

    package struct Counts: Equatable, Sendable {
        package var retried = 0
        /// Why others were left as they are.
        package var closed = 0
        package var cancelled = 0
        package var deadToken = 0
        package var expired = 0
        package var unknownOutcome = 0
        /// Somebody else had them at that moment.
        package var busy = 0

        package init() {}

        package var left: Int { closed + cancelled + deadToken + expired + unknownOutcome + busy }

        package mutating func add(_ other: Counts) {
            retried += other.retried
            closed += other.closed
            cancelled += other.cancelled
            deadToken += other.deadToken
            expired += other.expired
            unknownOutcome += other.unknownOutcome
            busy += other.busy
        }
    }

    package static let statement = """
        SELECT to_char(day, 'YYYY-MM-DD'), after_id, retried, closed, cancelled, dead_token, expired, unknown, busy
        FROM todoke.retry_failed($1, $2, $3::text[], to_timestamp($4::float8), to_timestamp($5::float8), $6::bigint,
            $7::boolean, \(batch), $8::date, $9::bigint)
        """

    package func parameters(from cursor: Cursor?) -> [Value] {
        [
            .text(app), .optional(notificationID), codes.isEmpty ? .null : .array(codes), .optional(since),
            .optional(until), .optional(message), .text(isDryRun ? "true" : "false"),
            .optional(cursor?.day.description), .optional(cursor?.afterID),
        ]
    }

    package static func decode(_ result: QueryResult) -> (counts: Counts, next: Cursor?) {
        var counts = Counts()
        counts.retried = result.int(0, 2) ?? 0
        counts.closed = result.int(0, 3) ?? 0
        counts.cancelled = result.int(0, 4) ?? 0
        counts.deadToken = result.int(0, 5) ?? 0
        counts.expired = result.int(0, 6) ?? 0
        counts.unknownOutcome = result.int(0, 7) ?? 0
        counts.busy = result.int(0, 8) ?? 0
        guard let day = Day(result.string(0, 0)), let afterID = result.int(0, 1) else { return (counts, nil) }
        return (counts, Cursor(day: day, afterID: afterID))
    }
}
