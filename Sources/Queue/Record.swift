package import Postgres

/// Results of one day written in one statement, fenced by sender and claim number.
///
/// A row is changed only while it is still `sending` for this claim. The state is named as a range, since `= 'sending'`
/// can lead the planner to walk the index of sending rows once for every result; and each array stands in a sub-select,
/// since a partition that nobody analysed is scanned whole when the planner knows how many results there are. Results
/// without trouble write nothing but the row itself.
package struct Record: Sendable {
    package let day: Day
    /// In id order, so that statements that meet take their locks in one order.
    package let results: [MessageResult]
    private let isTerminal: Bool

    /// Splits results by day and by whether the row leaves the queue: one statement each.
    package static func batches(of results: [MessageResult]) -> [Record] {
        var groups: [Day: (terminal: [MessageResult], returned: [MessageResult])] = [:]
        for result in results {
            if result.isTerminal {
                groups[result.key.day, default: ([], [])].terminal.append(result)
            } else {
                groups[result.key.day, default: ([], [])].returned.append(result)
            }
        }
        var batches: [Record] = []
        for day in groups.keys.sorted() {
            guard let group = groups[day] else { continue }
            if !group.terminal.isEmpty { batches.append(Record(day: day, group.terminal, isTerminal: true)) }
            if !group.returned.isEmpty { batches.append(Record(day: day, group.returned, isTerminal: false)) }
        }
        return batches
    }

    private init(day: Day, _ results: [MessageResult], isTerminal: Bool) {
        self.day = day
        self.results = results.sorted { $0.key.id < $1.key.id }
        self.isTerminal = isTerminal
    }

    /// The statement; its only row and column is the number of rows that matched.
    ///
    /// What the sender counted as duplicate risk so far is written along: a row that is not `sending` any more must not
    /// have a duplicate that nobody counted, also when the sender dies before its next heartbeat.
    package func statement(sender: Int, duplicateRisk: Int = 0) -> String {
        """
        WITH \(Self.given), counted AS (
            UPDATE todoke.senders SET duplicate_risk = \(duplicateRisk)
            WHERE id = \(sender) AND duplicate_risk < \(duplicateRisk)
        ), \(isTerminal ? terminal(sender) : returned(sender)), \(Self.logged)
        """
    }

    private static let given = """
        given AS (
            SELECT * FROM unnest((SELECT $1::bigint[]), (SELECT $2::int[]), (SELECT $3::text[]), (SELECT $4::smallint[]),
                (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::text[]), (SELECT $8::text[]),
                (SELECT $9::bigint[]), (SELECT $10::smallint[]))
                AS g(id, claim_no, state, http_status, error_code, provider_message_id, outcome, detail, delay_ms, spent)
        )
        """

    private static let logged = """
        logged AS (
            INSERT INTO todoke.attempts (message_id, day, notification, app, attempt_no, claim_no, sender_id, outcome,
                http_status, error_code, detail, retry_at)
            SELECT id, day, notification, app, attempts, claim_no, sender_id, outcome, http_status, error_code, detail,
                retry_at
            FROM updated WHERE outcome IS NOT NULL
        )
        SELECT count(*) FROM updated
        """

    private func terminal(_ sender: Int) -> String {
        """
        updated AS (
            UPDATE todoke.messages m SET state = g.state::todoke.message_state, finished_at = now(), lease_until = NULL,
                attempts = m.attempts + g.spent, http_status = g.http_status, error_code = g.error_code,
                provider_message_id = g.provider_message_id
            FROM given g
            WHERE m.day = \(day.sql) AND m.id = g.id AND m.claim_no = g.claim_no AND m.sender_id = \(sender)
                AND m.state > 'pending' AND m.state < 'sent'
            RETURNING m.id, m.day, m.notification, m.app, m.attempts, m.claim_no, m.sender_id, g.outcome, m.http_status,
                m.error_code, g.detail, NULL::timestamptz AS retry_at
        )
        """
    }

    /// A cancelled notification's row ends here, and so does one whose next time would come after its end of life.
    private func returned(_ sender: Int) -> String {
        """
        placed AS (
            SELECT g.*, CASE WHEN g.delay_ms IS NULL THEN m.due_at ELSE now() + g.delay_ms * interval '1 ms' END AS next_due
            FROM given g JOIN todoke.messages m ON m.day = \(day.sql) AND m.id = g.id
        ), updated AS (
            UPDATE todoke.messages m SET
                state = CASE WHEN n.cancelled_at IS NOT NULL THEN 'cancelled' WHEN m.expires_at <= g.next_due
                    THEN 'expired' ELSE 'pending' END::todoke.message_state,
                finished_at = CASE WHEN n.cancelled_at IS NOT NULL OR m.expires_at <= g.next_due THEN now() END,
                due_at = CASE WHEN n.cancelled_at IS NOT NULL OR m.expires_at <= g.next_due THEN m.due_at
                    ELSE g.next_due END,
                lease_until = NULL, attempts = m.attempts + g.spent, http_status = g.http_status,
                error_code = g.error_code
            FROM placed g, todoke.notifications n
            WHERE m.day = \(day.sql) AND m.id = g.id AND m.claim_no = g.claim_no AND m.sender_id = \(sender)
                AND m.state > 'pending' AND m.state < 'sent' AND n.id = m.notification
            RETURNING m.id, m.day, m.notification, m.app, m.attempts, m.claim_no, m.sender_id, g.outcome, m.http_status,
                m.error_code, g.detail, CASE WHEN m.state = 'pending' THEN m.due_at END AS retry_at
        )
        """
    }

    /// How many of the rows hold exactly this result already: asked when fewer matched than were given, since a
    /// connection lost between COMMIT and its answer makes the batch run twice.
    package func verification(sender: Int) -> String {
        """
        WITH \(Self.given)
        SELECT count(*) FROM given g JOIN todoke.messages m ON m.day = \(day.sql) AND m.id = g.id
        WHERE m.claim_no = g.claim_no AND m.sender_id = \(sender) AND NOT (m.state > 'pending' AND m.state < 'sent')
            AND (m.state::text = g.state OR (g.state = 'pending' AND m.state IN ('expired', 'cancelled')))
        """
    }

    /// The parameters of ``statement(sender:)`` and of ``verification(sender:)``.
    package var parameters: [Value] {
        [
            .array(results.map(\.key.id)), .array(results.map(\.key.claimNumber)), .array(results.map(\.stateName)),
            .array(results.map { $0.httpStatus.map(String.init) }), .array(results.map(\.errorCode)),
            .array(results.map(\.providerMessageID)), .array(results.map(\.outcome)), .array(results.map(\.detail)),
            .array(results.map { $0.delayMilliseconds.map(String.init) }),
            .array(results.map { $0.isAttemptSpent ? 1 : 0 }),
        ]
    }
}

extension MessageResult {
    fileprivate var stateName: String? {
        switch next {
        case .sent: MessageState.sent.rawValue
        case .failed: MessageState.failed.rawValue
        case .expired: MessageState.expired.rawValue
        case .pending: MessageState.pending.rawValue
        }
    }

    fileprivate var delayMilliseconds: Int? {
        if case .pending(let delay, _) = next { delay } else { nil }
    }

    fileprivate var isAttemptSpent: Bool {
        switch next {
        case .sent, .expired: false
        // Without an answer the attempt is not one that FCM failed.
        case .failed: httpStatus != nil
        case .pending(_, let isSpent): isSpent
        }
    }
}
