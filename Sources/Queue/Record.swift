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
    private let shape: Shape

    /// One statement for each: what is simply sent is nearly everything, and needs the least.
    fileprivate enum Shape: Int { case sent, ended, returned }

    /// Splits results by day, and by whether the row is sent without trouble, ends otherwise, or goes back.
    package static func batches(of results: [MessageResult]) -> [Record] {
        // Nearly always they are of one day and simply sent.
        if let first = results.first, results.allSatisfy({ $0.shape == .sent && $0.key.day == first.key.day }) {
            return [Record(day: first.key.day, results, .sent)]
        }
        var groups: [Day: [[MessageResult]]] = [:]
        for result in results {
            groups[result.key.day, default: [[], [], []]][result.shape.rawValue].append(result)
        }
        return groups.sorted { $0.key < $1.key }.flatMap { day, lists in
            zip([Shape.sent, .ended, .returned], lists).compactMap { shape, list in
                list.isEmpty ? nil : Record(day: day, list, shape)
            }
        }
    }

    private init(day: Day, _ results: [MessageResult], _ shape: Shape) {
        self.day = day
        self.shape = shape
        // Keys are small, results are not: sorting moves only keys, and mostly there is nothing to sort.
        let order = results.indices.sorted { results[$0].key.id < results[$1].key.id }
        self.results = order.map { results[$0] }
    }

    /// The statement; the first column of its only row is the number of rows that matched.
    ///
    /// What the sender counted as duplicate risk so far is written along: a row that is not `sending` any more must not
    /// have a duplicate that nobody counted, also when the sender dies before its next heartbeat. 0 writes nothing.
    ///
    /// Rows that are due again at once wake the senders that listen. Tokens that were proven dead are marked in the registry
    /// along with it; the second column is then what somebody must know of that, or NULL.
    package func statement(sender: Int, duplicateRisk: Int = 0) -> String {
        let risk =
            duplicateRisk == 0
            ? ""
            : """
            , counted AS (
                UPDATE todoke.senders SET duplicate_risk = \(duplicateRisk)
                WHERE id = \(sender) AND duplicate_risk < \(duplicateRisk)
            )
            """
        return switch shape {
        case .sent: "WITH \(sent(sender))\(risk) SELECT count(*) FROM updated"
        case .ended:
            "WITH \(Self.given), \(ended(sender))\(risk), \(Self.logged) SELECT count(*)\(marked(sender)) FROM updated"
        case .returned:
            "WITH \(Self.given), \(returned(sender))\(risk), \(Self.logged) SELECT count(*), (\(Wake.up)) FROM updated"
        }
    }

    private func sent(_ sender: Int) -> String {
        """
        updated AS (
            UPDATE todoke.messages m SET state = 'sent', finished_at = now(), lease_until = NULL, http_status = 200,
                error_code = NULL, provider_message_id = g.provider_message_id
            FROM unnest((SELECT $1::bigint[]), (SELECT $2::int[]), (SELECT $3::text[]))
                AS g(id, claim_no, provider_message_id)
            WHERE m.day = \(day.sql) AND m.id = g.id AND m.claim_no = g.claim_no AND m.sender_id = \(sender)
                AND m.state > 'pending' AND m.state < 'sent'
            RETURNING 1
        )
        """
    }

    private static let given = """
        given AS (
            SELECT * FROM unnest((SELECT $1::bigint[]), (SELECT $2::int[]), (SELECT $3::text[]), (SELECT $4::smallint[]),
                (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::text[]), (SELECT $8::text[]),
                (SELECT $9::bigint[]), (SELECT $10::smallint[]), (SELECT $11::bigint[]))
                AS g(id, claim_no, state, http_status, error_code, provider_message_id, outcome, detail, delay_ms, spent,
                    dead_since)
        )
        """

    /// For the verification of what was simply sent.
    private static let givenSent = """
        given AS (
            SELECT id, claim_no, 'sent' AS state
            FROM unnest((SELECT $1::bigint[]), (SELECT $2::int[]), (SELECT $3::text[])) AS g(id, claim_no, id_text)
        )
        """

    private static let logged = """
        logged AS (
            INSERT INTO todoke.attempts (message_id, day, notification, app, attempt_no, claim_no, sender_id, outcome,
                http_status, error_code, detail, retry_at, token_dead_at)
            SELECT id, day, notification, app, attempts, claim_no, sender_id, outcome, http_status, error_code, detail,
                retry_at, dead_at
            FROM updated WHERE outcome IS NOT NULL
        )
        """

    /// What is sent with trouble is so at another post, which followed at once: the attempt's row is about the first one.
    private func ended(_ sender: Int) -> String {
        """
        updated AS (
            UPDATE todoke.messages m SET state = g.state::todoke.message_state, finished_at = now(), lease_until = NULL,
                attempts = m.attempts + g.spent, http_status = g.http_status,
                error_code = CASE WHEN g.state <> 'sent' THEN g.error_code END,
                provider_message_id = g.provider_message_id
            FROM given g
            WHERE m.day = \(day.sql) AND m.id = g.id AND m.claim_no = g.claim_no AND m.sender_id = \(sender)
                AND m.state > 'pending' AND m.state < 'sent'
            RETURNING m.id, m.day, m.notification, m.app, m.attempts, m.claim_no, m.sender_id, g.outcome,
                CASE WHEN m.state <> 'sent' THEN m.http_status END AS http_status, g.error_code, g.detail,
                CASE WHEN m.state = 'sent' THEN now() END AS retry_at,
                TIMESTAMPTZ '2000-01-01 00:00:00+00' + g.dead_since * INTERVAL '1 us' AS dead_at
        )
        """
    }

    /// Whether the statement has a second column.
    package var marksDeadTokens: Bool { shape == .ended && results.contains { $0.tokenDeadSince != nil } }

    /// A column of its own, since nothing else makes the server perform it.
    private func marked(_ sender: Int) -> String {
        guard marksDeadTokens else { return "" }
        return """
            , todoke.record_dead_tokens(\(sender), \(day.sql), array_agg(id) FILTER (WHERE dead_at IS NOT NULL),
                array_agg(app) FILTER (WHERE dead_at IS NOT NULL), array_agg(error_code) FILTER (WHERE dead_at IS NOT NULL),
                array_agg(dead_at) FILTER (WHERE dead_at IS NOT NULL))
            """
    }

    /// A cancelled notification's row ends here, and so does one whose next time would come after its end of life.
    ///
    /// A notification that is gone is not cancelled: its messages must not stay `sending` for ever.
    private func returned(_ sender: Int) -> String {
        """
        placed AS (
            SELECT g.*, n.cancelled_at IS NOT NULL AS is_cancelled,
                CASE WHEN g.delay_ms IS NULL THEN m.due_at ELSE now() + g.delay_ms * interval '1 ms' END AS next_due
            FROM given g JOIN todoke.messages m ON m.day = \(day.sql) AND m.id = g.id
                LEFT JOIN todoke.notifications n ON n.id = m.notification
        ), updated AS (
            UPDATE todoke.messages m SET
                state = CASE WHEN g.is_cancelled THEN 'cancelled' WHEN m.expires_at <= g.next_due
                    THEN 'expired' ELSE 'pending' END::todoke.message_state,
                finished_at = CASE WHEN g.is_cancelled OR m.expires_at <= g.next_due THEN now() END,
                due_at = CASE WHEN g.is_cancelled OR m.expires_at <= g.next_due THEN m.due_at ELSE g.next_due END,
                lease_until = NULL, attempts = m.attempts + g.spent, http_status = g.http_status,
                error_code = g.error_code
            FROM placed g
            WHERE m.day = \(day.sql) AND m.id = g.id AND m.claim_no = g.claim_no AND m.sender_id = \(sender)
                AND m.state > 'pending' AND m.state < 'sent'
            RETURNING m.id, m.day, m.notification, m.app, m.attempts, m.claim_no, m.sender_id, g.outcome, m.http_status,
                m.error_code, g.detail, CASE WHEN m.state = 'pending' THEN m.due_at END AS retry_at,
                m.state = 'pending' AND g.delay_ms IS NULL AS is_due,
                NULL::timestamptz AS dead_at
        )
        """
    }

    /// How many of the rows hold exactly this result already: asked when fewer matched than were given, since a
    /// connection lost between COMMIT and its answer makes the batch run twice.
    package func verification(sender: Int) -> String {
        """
        WITH \(shape == .sent ? Self.givenSent : Self.given)
        SELECT count(*) FROM given g JOIN todoke.messages m ON m.day = \(day.sql) AND m.id = g.id
        WHERE m.claim_no = g.claim_no AND m.sender_id = \(sender) AND NOT (m.state > 'pending' AND m.state < 'sent')
            AND (m.state::text = g.state OR (g.state = 'pending' AND m.state IN ('expired', 'cancelled')))
        """
    }

    /// The parameters of ``statement(sender:)`` and of ``verification(sender:)``.
    package var parameters: [Value] {
        var values = [BinaryArray.int8(results.map(\.key.id)), BinaryArray.int4(results.map(\.key.claimNumber))]
        guard shape != .sent else { return values + [BinaryArray.text(results.map(\.providerMessageID))] }
        values += [
            .array(results.map(\.stateName)), .array(results.map { $0.httpStatus.map(String.init) }),
            .array(results.map(\.errorCode)), .array(results.map(\.providerMessageID)),
            .array(results.map(\.outcome)), .array(results.map(\.detail)),
            .array(results.map { $0.delayMilliseconds.map(String.init) }),
            .array(results.map { $0.isAttemptSpent ? 1 : 0 }),
            .array(results.map { $0.tokenDeadSince.map(String.init) }),
        ]
        return values
    }
}

extension MessageResult {
    fileprivate var shape: Record.Shape {
        switch next {
        case .pending: .returned
        case .sent where httpStatus == 200 && errorCode == nil && outcome == nil: .sent
        case .sent, .failed, .expired: .ended
        }
    }

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
