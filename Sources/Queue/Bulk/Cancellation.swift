package import Postgres

/// Cancelling one notification: first its row, so that nothing follows, then what waits, one bounded batch a statement.
package enum Cancellation {
    /// Messages looked at by one statement.
    package static let batch = 1_000

    /// Whether the notification exists; parameters, here and below: app, notification id.
    package static let lookStatement = "SELECT todoke.bulk_notification($1, $2)"

    /// The ids of a campaign; parameters: app, campaign.
    package static let campaignStatement = "SELECT * FROM todoke.campaign_notifications($1, $2)"

    package static let beginStatement = "SELECT was_cancelled, is_loading FROM todoke.cancel_notification($1, $2)"

    package static func decodeBegin(_ result: QueryResult) -> (wasCancelled: Bool, isLoading: Bool) {
        (result.bool(0, 0) ?? false, result.bool(0, 1) ?? false)
    }

    /// Parameters: app, notification id, where to go on (`nil` at the start).
    package static let pendingStatement = """
        SELECT cancelled, busy, after_key FROM todoke.cancel_pending($1, $2, \(batch), $3::uuid)
        """

    package static func decodePending(_ result: QueryResult) -> (cancelled: Int, next: String?) {
        (result.int(0, 0) ?? 0, result.optionalString(0, 2))
    }

    /// A notification's messages by state.
    package struct Counts: Equatable, Sendable {
        package var pending = 0
        package var sending = 0
        package var sent = 0
        package var failed = 0
        package var expired = 0
        package var cancelled = 0

        package init() {}
    }

    package static let countStatement = """
        SELECT pending, sending, sent, failed, expired, cancelled FROM todoke.notification_counts($1, $2)
        """

    package static func decodeCounts(_ result: QueryResult) -> Counts {
        var counts = Counts()
        counts.pending = result.int(0, 0) ?? 0
        counts.sending = result.int(0, 1) ?? 0
        counts.sent = result.int(0, 2) ?? 0
        counts.failed = result.int(0, 3) ?? 0
        counts.expired = result.int(0, 4) ?? 0
        counts.cancelled = result.int(0, 5) ?? 0
        return counts
    }
}
