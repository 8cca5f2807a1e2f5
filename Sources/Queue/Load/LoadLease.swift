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
    /// The keys of the targets that the app may have, or `nil` for any.
    let allowedTargets: Set<DedupeKey>?

    /// Takes the notification for this run.
    ///
    /// A run whose server process has just been killed is given a second to be seen dead; who waits, waits for any run.
    static func acquire(_ request: LoadRequest, _ connection: Connection) throws(LoadError) -> LoadLease {
        var tries = 0
        while true {
            do throws(LoadError) {
                return try attempt(request, connection)
            } catch .busy where tries < 10 || request.waits {
                tries += 1
                let seconds = tries < 20 ? "0.1" : "1"
                do { try connection.query("SELECT pg_sleep(\(seconds))") } catch { throw LoadError(error) }
            }
        }
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
            let (appID, allowedTargets) = try app(request.app, connection)
            try connection.query(
                """
                INSERT INTO todoke.notifications (
                    app, notification_id, template_digest, definition_digest, delivery, validate_only
                ) VALUES ($1::int, $2, $3, $4, $5, $6::boolean) ON CONFLICT (app, notification_id) DO NOTHING
                """,
                [
                    .int(appID), .text(request.notificationID), .text(request.templateDigest),
                    .text(request.definitionDigest), request.delivery.map { .text($0) } ?? .null,
                    .text(request.validateOnly ? "true" : "false"),
                ])
            let row = try connection.query(
                """
                \(look) FOR UPDATE OF n
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
                    already_queued = 0, skipped = 0, loaded_at = NULL,
                    rejected = CASE WHEN $6::boolean THEN rejected ELSE 0 END,
                    campaign = coalesce(campaign, $7)
                WHERE id = $1::bigint
                """,
                [
                    .int(notification), .text(run.text), .int(run.leaseSeconds), .text(request.templateDigest),
                    .text(request.definitionDigest), .text(request.append ? "true" : "false"),
                    request.campaign.map { .text($0) } ?? .null,
                ])
            let day = row.string(0, 1)
            if !request.append { try forgetRejections(notification, day, connection) }
            try connection.script("COMMIT")
            return LoadLease(
                notificationID: request.notificationID, notification: notification, app: appID, day: day,
                dueMicroseconds: due, queuedBefore: queued, run: run, allowedTargets: allowedTargets)
        } catch let error as PostgresError {
            if error.sqlState == .lockNotAvailable { throw .busy(notificationID: request.notificationID) }
            throw LoadError(error)
        } catch let error as LoadError {
            throw error
        } catch {
            throw .busy(notificationID: request.notificationID)
        }
    }

    /// What is known of a notification: $1 is the app, $2 its id, $3 whether to append.
    static let look = """
        SELECT id, to_char(day, 'YYYY-MM-DD'), closes_at <= now() OR purged_at IS NOT NULL, cancelled_at IS NOT NULL,
            template_digest, definition_digest, run_id::text, run_until > now(), queued,
            (extract(epoch FROM CASE WHEN $3::boolean THEN now() ELSE created_at END) * 1000000)::bigint,
            validate_only, delivery
        FROM todoke.notifications AS n WHERE app = $1::int AND notification_id = $2
        """

    /// The app's key, and what it may send to.
    static func app(
        _ name: String, _ connection: Connection
    ) throws -> (id: Int, allowedTargets: Set<DedupeKey>?) {
        let app = try connection.query(
            "SELECT id, environment = 'sandbox' FROM todoke.apps WHERE name = $1", [.text(name)])
        guard app.rowCount == 1, let id = app.int(0, 0) else { throw LoadError.unknownApp(name) }
        guard app.bool(0, 1) == true else { return (id, nil) }
        let keys = try connection.query(
            """
            SELECT ('x' || substr(hex, 1, 16))::bit(64)::bigint, ('x' || substr(hex, 17, 16))::bit(64)::bigint FROM (
                SELECT encode(sha256(convert_to(target_kind || ':' || target, 'UTF8')), 'hex') AS hex
                FROM todoke.allowed_targets WHERE app = $1::int
            ) AS digests
            """, [.int(id)])
        var allowed: Set<DedupeKey> = []
        for row in 0..<keys.rowCount {
            allowed.insert(DedupeKey(high: keys.int(row, 0) ?? 0, low: keys.int(row, 1) ?? 0))
        }
        return (id, allowed)
    }

    static func check(_ row: QueryResult, _ request: LoadRequest) throws(LoadError) {
        let id = request.notificationID
        if row.bool(0, 3) == true { throw .cancelled(notificationID: id) }
        if row.bool(0, 2) == true { throw .closed(notificationID: id) }
        // Never changed once they are there: an application may be queueing for it in a transaction that nobody sees yet.
        if row.bool(0, 10) != request.validateOnly {
            throw .otherKind(notificationID: id, option: "--validate-only")
        }
        if let delivery = request.delivery, delivery != row.optionalString(0, 11) {
            throw .otherKind(notificationID: id, option: "--delivery")
        }
        // A run that failed before its first message leaves nothing that another one could contradict.
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
