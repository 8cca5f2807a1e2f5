/// Messages whose lease ran out go back to `pending`, whoever held them: any sender does it for the apps it serves.
///
/// The outcome of the lost claim is unknown, so at-most-once messages end as failed, and those of a cancelled
/// notification as cancelled. Where somebody deleted the notification its app says how it delivers: rows that no rescue
/// matched would stand in front of all others for ever. Bounded: at most 1,000 rows a statement.
package enum Rescue {
    package static let limit = 1_000

    /// The statement; its only row and column is the number of rescued rows.
    package static func statement(apps: [Int]) -> String {
        """
        WITH lost AS MATERIALIZED (
            SELECT id, day, app, notification FROM todoke.messages
            WHERE app IN (\(apps.map(String.init).joined(separator: ", "))) AND state = 'sending' AND lease_until < now()
            ORDER BY app, id LIMIT \(limit) FOR UPDATE SKIP LOCKED
        ), told AS MATERIALIZED (
            SELECT l.id, l.day, coalesce(n.delivery, a.delivery) = 'at_most_once' AS is_at_most_once,
                n.cancelled_at IS NOT NULL AS is_cancelled
            FROM lost l JOIN todoke.apps a ON a.id = l.app LEFT JOIN (
                SELECT id, delivery, cancelled_at FROM todoke.notifications
                WHERE id = ANY (ARRAY(SELECT DISTINCT notification FROM lost))) n ON n.id = l.notification
        ), updated AS (
            UPDATE todoke.messages m SET
                state = CASE WHEN t.is_at_most_once THEN 'failed' WHEN t.is_cancelled THEN 'cancelled'
                    ELSE 'pending' END::todoke.message_state,
                finished_at = CASE WHEN t.is_at_most_once OR t.is_cancelled THEN now() END,
                lease_until = NULL,
                error_code = CASE WHEN t.is_at_most_once THEN 'OUTCOME_UNKNOWN' ELSE m.error_code END
            FROM told t
            WHERE m.id = ANY (ARRAY(SELECT id FROM lost)) AND m.day = ANY (ARRAY(SELECT DISTINCT day FROM lost))
                AND m.state > 'pending' AND m.state < 'sent' AND t.id = m.id AND t.day = m.day
            RETURNING m.id, m.day, m.notification, m.app, m.attempts, m.claim_no, m.sender_id,
                CASE WHEN m.state = 'pending' THEN m.due_at END AS retry_at, m.state = 'pending' AS is_due
        ), logged AS (
            INSERT INTO todoke.attempts (message_id, day, notification, app, attempt_no, claim_no, sender_id, outcome,
                error_code, detail, retry_at)
            SELECT id, day, notification, app, attempts, claim_no, sender_id, 'unknown', 'LEASE_EXPIRED',
                'The sender that held the message did not record a result before its lease ran out.', retry_at
            FROM updated
        )
        SELECT count(*), (\(Wake.up)) FROM updated
        """
    }
}
