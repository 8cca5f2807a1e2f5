package import Postgres

/// Takes due messages for one sender: `FOR UPDATE SKIP LOCKED` on the narrow rows, then their payloads.
///
/// Day, app, priority, limit and floor are literals and the statement is planned each time: with unknown values a plan
/// over many partitions turns into a full scan. The rows that were picked are found again by their place on the page,
/// which nobody can change while they are locked: a join by id turns into a merge over the whole primary key once the
/// partition was analysed. A row that somebody changed between the look and the lock is left for the next claim.
/// Payloads are looked up one by one: a day that was analysed before anything of it was committed looks empty, and a
/// join reads it whole.
///
/// Messages of a cancelled notification end here, and so do expired ones; where somebody deleted the notification its app
/// says how it delivers. What is to be known of notifications is read once for each and not once a row, and of nearly all
/// of them there is nothing to know: `special` holds the others. (`OFFSET 0` there: the planner would ask for the app twice.)
///
/// A paused app has nothing to claim, whatever the sender last heard of it. The age of a message that was retried after it
/// had failed counts from then: attempts up to its last end are not looked at.
///
/// The lease begins with the database's clock and is never renewed. The planner's cost stays far below `jit_above_cost` (a
/// test pins it), so no setting of the session is needed to keep JIT away.
package struct Claim: Equatable, Sendable {
    package let app: Int
    package let priority: Int
    package let day: Day
    package let limit: Int
    /// Only what is due later than this is looked at.
    package let floor: Floor?

    /// Where a claim got to in the order of due times.
    ///
    /// With it the next claim need not walk over what was claimed before and is not yet vacuumed away. It hides what was
    /// given back, or committed late, behind it: good only while batches come back full, and not for long.
    package struct Floor: Hashable, Sendable {
        /// Microseconds since 2000-01-01 00:00 UTC, as Postgres counts.
        let dueAt: Int
        let id: Int

        package init(dueAt: Int, id: Int) {
            self.dueAt = dueAt
            self.id = id
        }

        /// The literals for a comparison of (due_at, id); the microseconds are exact.
        var sql: String { "(TIMESTAMPTZ '2000-01-01 00:00:00+00' + INTERVAL '\(dueAt) us', \(id))" }
    }

    package init(app: Int, priority: Int, day: Day, limit: Int, floor: Floor? = nil) {
        self.app = app
        self.priority = priority
        self.day = day
        self.limit = limit
        self.floor = floor
    }

    /// What somebody waits for: it does not stand in line behind other claims.
    package var isUrgent: Bool { Work.urgentPriorities.contains(priority) }

    /// What ``decode(_:)`` reads.
    package static let format = ResultFormat.binary

    /// The statement's text; only numbers and a ``Day`` are put into it.
    package func statement(sender: Int, leaseSeconds: Int) -> String {
        let isCancelled = "m.notification = ANY (ARRAY(SELECT id FROM special WHERE is_cancelled))"
        return """
            WITH picked AS MATERIALIZED (
                SELECT ctid AS place, notification FROM todoke.messages
                WHERE day = \(day.sql) AND app = \(app) AND priority = \(priority) AND state = 'pending'
                    AND due_at <= now()\(floor.map { " AND (due_at, id) > \($0.sql)" } ?? "")
                    AND NOT EXISTS (SELECT FROM todoke.apps WHERE id = \(app) AND paused_at IS NOT NULL)
                ORDER BY due_at, id LIMIT \(limit) FOR UPDATE SKIP LOCKED
            ), special AS MATERIALIZED (
                SELECT id, is_cancelled, is_at_most_once, validate_only FROM (
                    SELECT p.id, n.cancelled_at IS NOT NULL AS is_cancelled, n.validate_only,
                        coalesce(n.delivery, (SELECT delivery FROM todoke.apps WHERE id = \(app))) = 'at_most_once'
                            AS is_at_most_once
                    FROM unnest(ARRAY(SELECT DISTINCT notification FROM picked)) AS p(id)
                        LEFT JOIN todoke.notifications n ON n.id = p.id
                    OFFSET 0
                ) said WHERE is_cancelled OR is_at_most_once OR validate_only
            ), claimed AS (
                UPDATE todoke.messages m SET
                    state = CASE WHEN \(isCancelled) THEN 'cancelled'
                        WHEN m.expires_at <= now() THEN 'expired' ELSE 'sending' END::todoke.message_state,
                    finished_at = CASE WHEN \(isCancelled) OR m.expires_at <= now() THEN now() END,
                    lease_until = CASE WHEN \(isCancelled) OR m.expires_at <= now() THEN NULL
                        ELSE now() + interval '\(leaseSeconds) s' END,
                    claim_no = m.claim_no + 1, sender_id = \(sender)
                WHERE m.day = \(day.sql) AND m.ctid = ANY (ARRAY(SELECT place FROM picked))
                RETURNING m.id, m.claim_no, m.attempts, m.state, m.due_at, m.expires_at, m.notification,
                    CASE WHEN m.claim_no > 1 THEN (SELECT min(a.at) FROM todoke.attempts a
                        WHERE a.day = \(day.sql) AND a.message_id = m.id AND a.claim_no > coalesce((
                            SELECT max(f.claim_no) FROM todoke.attempts f
                            WHERE f.day = \(day.sql) AND f.message_id = m.id AND f.retry_at IS NULL), 0)) END AS tried_at
            )
            SELECT c.id, c.claim_no, c.attempts,
                CASE c.state WHEN 'sending' THEN true WHEN 'expired' THEN false END, c.due_at, c.expires_at, c.tried_at, now(),
                c.notification = ANY (ARRAY(SELECT id FROM special WHERE is_at_most_once)),
                c.notification = ANY (ARRAY(SELECT id FROM special WHERE validate_only)),
                p.ttl_at, p.ttl_len, p.payload
            FROM claimed c
            LEFT JOIN LATERAL (
                SELECT ttl_at, ttl_len, payload FROM todoke.payloads WHERE id = c.id AND day = \(day.sql) OFFSET 0
            ) p ON true
            """
    }

    /// What came back: the messages to post, and how many rows the claim took in all (expired ones included).
    package struct Answer: Sendable {
        package let messages: [ClaimedMessage]
        /// Claimed all the same, so that they can end: nobody will ever be able to post them.
        package let withoutPayload: [MessageKey]
        package let taken: Int
        /// Rows that the claim ended, because they were too late or their notification was cancelled.
        package let expired: Int
        package let cancelled: Int
        /// Where the claim got to; `nil` when it took nothing.
        package let floor: Floor?

        package init(
            messages: [ClaimedMessage], withoutPayload: [MessageKey] = [], taken: Int, expired: Int = 0,
            cancelled: Int = 0, floor: Floor? = nil
        ) {
            self.messages = messages
            self.withoutPayload = withoutPayload
            self.taken = taken
            self.expired = expired
            self.cancelled = cancelled
            self.floor = floor
        }
    }
}
