/// A live sender's row in `todoke.senders`: who sends, for which apps, since when, and what it counted.
package enum SenderRegistration {
    /// Parameters: host, pid, version, apps (text array).
    ///
    /// Gives back the sender's id.
    package static let insert = """
        INSERT INTO todoke.senders (host, pid, version, apps, state) VALUES ($1, $2::int, $3, $4::text[], 'running')
        RETURNING id
        """

    /// Parameters: id, messages held, second issues and resends that may be duplicates, state, messages per second.
    package static let heartbeat = """
        UPDATE todoke.senders SET heartbeat_at = now(), in_flight = $2::int, duplicate_risk = $3::bigint, state = $4,
            rate = $5::real
        WHERE id = $1::bigint
        """

    /// The last word of a sender that ends in order; parameters as for ``heartbeat``.
    package static let farewell = """
        UPDATE todoke.senders SET heartbeat_at = now(), in_flight = $2::int, duplicate_risk = $3::bigint, state = $4,
            rate = $5::real, stopped_at = now()
        WHERE id = $1::bigint
        """
}
