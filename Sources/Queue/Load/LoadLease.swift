import Postgres

/// A run's hold on its notification: found or made, checked, and leased.
struct LoadLease {
    let notificationID: String
    /// Key of the row in `notifications`.
    let notification: Int
    let app: Int
    /// `YYYY-MM-DD`: the partition of all its messages.
    let day: String
    /// When the notification's messages are due, in microseconds since 1970 by the database's clock.
    let dueMicroseconds: Int
    /// Messages that earlier runs have queued.
    let queuedBefore: Int
    let run: RunIdentity

    /// Takes the notification for this run.
    ///
    /// A run whose server process has just been killed is given a second to be seen dead.
    static func acquire(_ request: LoadRequest, _ connection: Connection) throws(LoadError) -> LoadLease {
        for _ in 0..<10 {
            do throws(LoadError) {
                return try attempt(request, connection)
            } catch .busy {
                do { try connection.query("SELECT pg_sleep(0.1)") } catch { throw LoadError(error) }
            }
        }
        return try attempt(request, connection)
    }

    private static func attempt(_ request: LoadRequest, _ connection: Connection) throws(LoadError) -> LoadLease {
        do throws(LoadError) {
            return try take(request, connection)
        } catch {
            // The error that ends the run is the one to tell.
            if connection.isInTransaction { try? connection.script("ROLLBACK") }
            throw error
        }
    }

    /// A run that reads the same audience again will say again what is wrong with it.
    private static func forgetRejections(
        _ notification: Int, _ day: String, _ connection: Connection
    ) throws(PostgresError) {
        let rows = "todoke.rejections WHERE notification = \(notification) AND day = '\(day)'"
        if try connection.query("SELECT 1 FROM \(rows) LIMIT 1").rowCount > 0 {
            try connection.query("DELETE FROM \(rows)")
        }
    }

    /// Makes tomorrow's partitions where they are missing, so that a cron line alone keeps the queue going.
    private static func ensurePartitions(_ connection: Connection) throws(PostgresError) {
        let tomorrow = try connection.query(
            """
            SELECT to_regclass('todoke.messages_' || to_char((now() AT TIME ZONE 'UTC')::date + 1, 'YYYYMMDD')) IS NULL
            """)
        if tomorrow.bool(0, 0) == true { try connection.query("SELECT todoke.ensure_partitions(7)") }
    }

    private static func take(_ request: LoadRequest, _ connection: Connection) throws(LoadError) -> LoadLease {
        do {
            try ensurePartitions(connection)
            let run = try RunIdentity(connection)
            try connection.script("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '5s'")
            let app = try connection.query("SELECT id FROM todoke.apps WHERE name = $1", [.text(request.app)])
            guard app.rowCount == 1, let appID = app.int(0, 0) else { throw LoadError.unknownApp(request.app) }
            try connection.query(
                """
                INSERT INTO todoke.notifications (app, notification_id, template_digest, definition_digest)
                VALUES ($1::int, $2, $3, $4) ON CONFLICT (app, notification_id) DO NOTHING
                """,
                [
                    .int(appID), .text(request.notificationID), .text(request.templateDigest),
                    .text(request.definitionDigest),
                ])
            let row = try connection.query(
                """
                SELECT id, to_char(day, 'YYYY-MM-DD'), closes_at <= now() OR purged_at IS NOT NULL, cancelled_at IS NOT NULL,
                    template_digest, definition_digest, run_id::text, run_until > now(), queued,
                    (extract(epoch FROM CASE WHEN $3::boolean THEN now() ELSE created_at END) * 1000000)::bigint
                FROM todoke.notifications WHERE app = $1::int AND notification_id = $2 FOR UPDATE
                """, [.int(appID), .text(request.notificationID), .text(request.append ? "true" : "false")])
            guard row.rowCount == 1, let notification = row.int(0, 0), let queued = row.int(0, 8),
                let due = row.int(0, 9)
            else { throw LoadError.busy(notificationID: request.notificationID) }
            try check(row, request)
            if row.bool(0, 7) == true, let holder = RunIdentity(row.string(0, 6)),
                try !holder.isKnownDead(connection)
            {
                throw LoadError.busy(notificationID: request.notificationID)
            }
            try connection.query(
                """
                UPDATE todoke.notifications SET run_id = $2::uuid, run_until = now() + make_interval(secs => $3),
                    template_digest = CASE queued WHEN 0 THEN $4 ELSE coalesce(template_digest, $4) END,
                    definition_digest = CASE queued WHEN 0 THEN $5 ELSE coalesce(definition_digest, $5) END,
                    already_queued = 0, loaded_at = NULL,
                    rejected = CASE WHEN $6::boolean THEN rejected ELSE 0 END
                WHERE id = $1::bigint
                """,
                [
                    .int(notification), .text(run.text), .int(run.leaseSeconds), .text(request.templateDigest),
                    .text(request.definitionDigest), .text(request.append ? "true" : "false"),
                ])
            let day = row.string(0, 1)
            if !request.append { try forgetRejections(notification, day, connection) }
            try connection.script("COMMIT")
            return LoadLease(
                notificationID: request.notificationID, notification: notification, app: appID, day: day,
                dueMicroseconds: due, queuedBefore: queued, run: run)
        } catch let error as PostgresError {
            if error.sqlState == .lockNotAvailable { throw .busy(notificationID: request.notificationID) }
            throw LoadError(error)
        } catch let error as LoadError {
            throw error
        } catch {
            throw .busy(notificationID: request.notificationID)
        }
    }

    private static func check(_ row: QueryResult, _ request: LoadRequest) throws(LoadError) {
        let id = request.notificationID
        if row.bool(0, 3) == true { throw .cancelled(notificationID: id) }
        if row.bool(0, 2) == true { throw .closed(notificationID: id) }
        // A run that failed before its first message leaves nothing that another template could contradict.
        guard !request.append, let queued = row.int(0, 8), queued > 0 else { return }
        if let digest = row.optionalString(0, 4), digest != request.templateDigest {
            throw .otherTemplate(notificationID: id)
        }
        if let digest = row.optionalString(0, 5), digest != request.definitionDigest {
            throw .otherDefinition(notificationID: id)
        }
    }

    /// Lets go of the notification; `complete` says that the audience was read to its end.
    func release(_ connection: Connection, complete: Bool) throws(PostgresError) {
        if connection.isInTransaction { try connection.script("ROLLBACK") }
        try connection.script("BEGIN ISOLATION LEVEL READ COMMITTED")
        try connection.query(
            """
            UPDATE todoke.notifications
            SET run_id = NULL, run_until = NULL, loaded_at = CASE WHEN $3::boolean THEN now() END
            WHERE id = $1::bigint AND run_id = $2::uuid
            """, [.int(notification), .text(run.text), .text(complete ? "true" : "false")])
        try connection.script("COMMIT")
    }
}
