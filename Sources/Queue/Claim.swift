package import Postgres

/// Takes due messages for one sender: `FOR UPDATE SKIP LOCKED` on the narrow rows, then their payloads.
///
/// Day, app, priority and limit are literals and the statement is planned each time: with unknown values a plan over
/// many partitions turns into a full scan. The rows are found by `= ANY (ARRAY(…))`: a join with what was picked turns
/// into a merge over the whole primary key once the partition was analysed. Messages of a cancelled notification end
/// here, and so do expired ones. The lease begins with the database's clock and is never renewed.
package struct Claim: Equatable, Sendable {
    package let app: Int
    package let priority: Int
    package let day: Day
    package let limit: Int

    package init(app: Int, priority: Int, day: Day, limit: Int) {
        self.app = app
        self.priority = priority
        self.day = day
        self.limit = limit
    }

    /// What somebody waits for: it does not stand in line behind other claims.
    package var isUrgent: Bool { Work.urgentPriorities.contains(priority) }

    /// The statement's text; only numbers and a ``Day`` are put into it.
    package func statement(sender: Int, leaseSeconds: Int) -> String {
        """
        WITH picked AS MATERIALIZED (
            SELECT id, notification FROM todoke.messages
            WHERE day = \(day.sql) AND app = \(app) AND priority = \(priority) AND state = 'pending' AND due_at <= now()
            ORDER BY due_at, id LIMIT \(limit) FOR UPDATE SKIP LOCKED
        ), cancelled AS MATERIALIZED (
            SELECT id FROM picked
            WHERE (SELECT n.cancelled_at FROM todoke.notifications n WHERE n.id = picked.notification) IS NOT NULL
        ), claimed AS (
            UPDATE todoke.messages m SET
                state = CASE WHEN m.id = ANY (ARRAY(SELECT id FROM cancelled)) THEN 'cancelled'
                    WHEN m.expires_at <= now() THEN 'expired' ELSE 'sending' END::todoke.message_state,
                finished_at = CASE WHEN m.id = ANY (ARRAY(SELECT id FROM cancelled)) OR m.expires_at <= now()
                    THEN now() END,
                lease_until = CASE WHEN m.id = ANY (ARRAY(SELECT id FROM cancelled)) OR m.expires_at <= now() THEN NULL
                    ELSE now() + interval '\(leaseSeconds) s' END,
                claim_no = m.claim_no + 1, sender_id = \(sender)
            WHERE m.day = \(day.sql) AND m.id = ANY (ARRAY(SELECT id FROM picked))
            RETURNING m.id, m.claim_no, m.attempts, m.expires_at, m.notification, m.state
        )
        SELECT c.id, c.claim_no, c.attempts, c.state,
            CASE WHEN isfinite(c.expires_at) THEN ceil(extract(epoch FROM c.expires_at - now()) * 1000)::bigint END,
            (SELECT coalesce(n.delivery, a.delivery) FROM todoke.notifications n JOIN todoke.apps a ON a.id = n.app
                WHERE n.id = c.notification) = 'at_most_once', p.ttl_at, p.ttl_len, p.payload
        FROM claimed c
        LEFT JOIN todoke.payloads p ON p.id = c.id AND p.day = \(day.sql)
        """
    }

    /// What came back: the messages to post, and how many rows the claim took in all (expired ones included).
    package struct Answer: Sendable {
        package let messages: [ClaimedMessage]
        /// Claimed all the same, so that they can end: nobody will ever be able to post them.
        package let withoutPayload: [MessageKey]
        package let taken: Int

        package init(messages: [ClaimedMessage], withoutPayload: [MessageKey] = [], taken: Int) {
            self.messages = messages
            self.withoutPayload = withoutPayload
            self.taken = taken
        }
    }

    /// Reads the statement's result.
    package func decode(_ result: QueryResult) -> Answer {
        var messages: [ClaimedMessage] = []
        var withoutPayload: [MessageKey] = []
        messages.reserveCapacity(result.rowCount)
        for row in 0..<result.rowCount {
            guard let id = result.int(row, 0), let claimNumber = result.int(row, 1),
                result.string(row, 3) == MessageState.sending.rawValue
            else { continue }
            let key = MessageKey(id: id, day: day, claimNumber: claimNumber)
            guard !result.isNull(row, 8) else {
                withoutPayload.append(key)
                continue
            }
            messages.append(
                ClaimedMessage(
                    key: key, app: app,
                    attempts: result.int(row, 2) ?? 0, expiresInMilliseconds: result.int(row, 4),
                    isAtMostOnce: result.string(row, 5) == "t",
                    ttlDigits: result.int(row, 6).flatMap { start in
                        result.int(row, 7).map { start..<(start + $0) }
                    },
                    payload: result.bytes(row, 8)))
        }
        return Answer(messages: messages, withoutPayload: withoutPayload, taken: result.rowCount)
    }
}
