import Postgres

/// Writes chunks of one notification, each in one transaction.
///
/// Each transaction first locks the notification's row where it still belongs to this run: a run that was taken over
/// writes nothing more.
final class ChunkWriter {
    let connection: Connection
    let lease: LoadLease
    let request: LoadRequest
    let day: Int32
    /// Look for rows that are there already before copying, instead of finding out by failing.
    var looksFirst: Bool

    init(_ connection: Connection, _ lease: LoadLease, _ request: LoadRequest, day: Int32) {
        self.connection = connection
        self.lease = lease
        self.request = request
        self.day = day
        looksFirst = lease.queuedBefore > 0
    }

    /// Holds the notification for as long as a lease lasts; throws when another run has it.
    func renew() throws(LoadError) {
        do {
            let renewed = try connection.query(
                """
                UPDATE todoke.notifications SET run_until = now() + make_interval(secs => $3)
                WHERE id = $1::bigint AND run_id = $2::uuid RETURNING 1
                """, [.int(lease.notification), .text(lease.run.text), .int(lease.run.leaseSeconds)])
            guard renewed.rowCount == 1 else { throw LoadError.leaseLost(notificationID: lease.notificationID) }
        } catch let error as LoadError {
            throw error
        } catch let error as PostgresError {
            throw LoadError(error)
        } catch { throw .leaseLost(notificationID: lease.notificationID) }
    }

    /// Lets go of the notification; `complete` says that the audience was read to its end.
    func release(complete: Bool) throws(LoadError) {
        do { try lease.release(connection, complete: complete) } catch { throw LoadError(error) }
    }

    /// Writes the chunk and gives back what its rows came to; deadlocks are tried again.
    func write(_ chunk: inout LoadChunk) throws(LoadError) -> LoadCounts {
        var attempt = 0
        while true {
            do throws(PostgresError) {
                if let added = try transaction(&chunk) { return added }
            } catch {
                attempt += 1
                if connection.isInTransaction { try? connection.script("ROLLBACK") }
                guard error.isRetryable && attempt < 5 else {
                    if error.sqlState == .checkViolation && error.message.hasPrefix("no partition") {
                        throw .noPartition(day: lease.day)
                    }
                    throw LoadError(error)
                }
                continue
            }
            // Nothing was written: the notification is not this run's any more, or takes nothing any more.
            throw try refusal()
        }
    }

    /// Writes the chunk; `nil` when the notification does not take it.
    private func transaction(_ chunk: inout LoadChunk) throws(PostgresError) -> LoadCounts? {
        // A plan over many partitions is compiled for longer than it runs.
        try connection.script("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL jit = off")
        let held = try connection.query(
            """
            SELECT 1 FROM todoke.notifications
            WHERE id = $1::bigint AND run_id = $2::uuid AND cancelled_at IS NULL AND closes_at > now() FOR UPDATE
            """, [.int(lease.notification), .text(lease.run.text)])
        guard held.rowCount == 1 else {
            try connection.script("ROLLBACK")
            return nil
        }
        let queued = chunk.count > 0 ? try copyNew(&chunk) : 0
        try writeRejections(chunk)
        let added = LoadCounts(
            queued: queued, alreadyQueued: chunk.count - queued + chunk.duplicates,
            rejected: chunk.rejectionLines.count, skipped: chunk.skipped)
        try connection.query(
            """
            UPDATE todoke.notifications SET run_until = now() + make_interval(secs => $2),
                queued = queued + $3::bigint, already_queued = already_queued + $4::bigint,
                rejected = rejected + $5::bigint, skipped = skipped + $6::bigint
            WHERE id = $1::bigint
            """,
            [
                .int(lease.notification), .int(lease.run.leaseSeconds), .int(added.queued), .int(added.alreadyQueued),
                .int(added.rejected), .int(added.skipped),
            ])
        if queued > 0 { try connection.query("SELECT pg_notify('todoke_due', $1)", [.text(request.app)]) }
        try connection.script("COMMIT")
        return added
    }

    private func writeRejections(_ chunk: borrowing LoadChunk) throws(PostgresError) {
        guard !chunk.rejectionLines.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO todoke.rejections (notification, day, line, reason, input, run_id)
            SELECT \(lease.notification), '\(lease.day)', r.line, r.reason, r.input, $4::uuid
            FROM unnest($1::bigint[], $2::text[], $3::text[]) AS r (line, reason, input)
            """,
            [
                .array(chunk.rejectionLines), .array(chunk.rejectionReasons), .array(chunk.rejectionInputs),
                .text(lease.run.text),
            ])
    }

    /// Why the notification did not take a chunk.
    private func refusal() throws(LoadError) -> LoadError {
        do {
            let row = try connection.query(
                """
                SELECT run_id = $2::uuid, cancelled_at IS NOT NULL FROM todoke.notifications WHERE id = $1::bigint
                """, [.int(lease.notification), .text(lease.run.text)])
            if row.rowCount == 1 && row.bool(0, 0) == true {
                return row.bool(0, 1) == true
                    ? .cancelled(notificationID: lease.notificationID) : .closed(notificationID: lease.notificationID)
            }
            return .leaseLost(notificationID: lease.notificationID)
        } catch {
            throw LoadError(error)
        }
    }
}
