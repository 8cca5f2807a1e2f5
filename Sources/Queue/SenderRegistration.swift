/// A live sender's row in `todoke.senders`: who sends, for which apps, since when, and what it counted.
package enum SenderRegistration {
    /// The schema's version that the sender's statements need; a newer one will do.
    package static let schemaVersion = 8
    /// The version that the schema is at.
    package static let schemaQuestion = "SELECT coalesce(max(version), 0) FROM todoke.migrations"

    /// Parameters: host, pid, version, apps (text array).
    ///
    /// Gives back the sender's id.
    package static let insert = """
        INSERT INTO todoke.senders (host, pid, version, apps, state) VALUES ($1, $2::int, $3, $4::text[], 'running')
        RETURNING id
        """

    /// The row once more where it is gone; parameters as for ``insert`` and the id, which stands in the rows of messages.
    package static let insertAgain = """
        INSERT INTO todoke.senders (id, host, pid, version, apps, state) OVERRIDING SYSTEM VALUE
        VALUES ($5::bigint, $1, $2::int, $3, $4::text[], 'running') ON CONFLICT (id) DO NOTHING
        """

    /// Parameters: id, messages held, second issues and resends that may be duplicates, state, messages per second.
    ///
    /// Its row is missing where the sender's own is gone.
    package static let heartbeat = """
        UPDATE todoke.senders SET heartbeat_at = now(), in_flight = $2::int, duplicate_risk = $3::bigint, state = $4,
            rate = $5::real
        WHERE id = $1::bigint RETURNING id
        """

    /// The last word of a sender that ends in order; parameters as for ``heartbeat``.
    package static let farewell = """
        UPDATE todoke.senders SET heartbeat_at = now(), in_flight = $2::int, duplicate_risk = $3::bigint, state = $4,
            rate = $5::real, stopped_at = now()
        WHERE id = $1::bigint
        """

    /// Whether nothing can be written here: a standby, or a server that was made read-only.
    package static let readOnlyQuestion = """
        SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean
        """

    /// Ends server processes that are still busy with statements which this sender gave up, so that they do not pile up
    /// behind a lock; parameters: their ids (array of integers), the seconds after which it gave up.
    ///
    /// An id that stands for somebody else by now is left alone, unless that is a statement given up as well.
    package static let endAbandoned = """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid = ANY ($1::int[]) AND pid <> pg_backend_pid() AND usename = current_user AND datname = current_database()
            AND application_name = current_setting('application_name') AND state = 'active'
            AND query_start < now() - $2::int * interval '1 s'
        """
}
