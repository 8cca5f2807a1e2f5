package import Operations
package import Postgres

/// The partitions of today and the days ahead, as whoever migrates makes them.
///
/// Producers and senders make theirs as well; this is for a database on which neither has run for a while.
package enum DaysAhead {
    /// As many as a fresh database has: more than the senders' housekeeping keeps, so that a week of standing still is no harm.
    static let days = 14

    /// Makes those that are missing and gives back how many tables that were.
    ///
    /// Throws a ``Failure`` where the session may not act for the schema's owner, or waited too long for a lock.
    package static func make(_ connection: Connection) throws(Failure) -> Int {
        do throws(PostgresError) {
            // Files of a release that had no partitions yet.
            let isThere = try connection.query("SELECT to_regprocedure('todoke.ensure_partitions(int)') IS NOT NULL")
            guard isThere.bool(0, 0) == true else { return 0 }
            try connection.script("BEGIN; SET LOCAL ROLE todoke_owner")
            let made = try connection.query("SELECT todoke.ensure_partitions(\(days))").int(0, 0) ?? 0
            try connection.script("COMMIT")
            return made
        } catch {
            // The reason is in `error`; a connection that is gone has rolled back by itself.
            try? connection.script("ROLLBACK")
            let doing = "making the partitions of the next \(days) days"
            guard error.sqlState == .insufficientPrivilege else { throw Failure(error, while: doing) }
            throw Failure(
                .configuration, "\(doing) failed: \(error.message)",
                remedy: "migrate as a superuser, or as a member of todoke_owner")
        }
    }
}
