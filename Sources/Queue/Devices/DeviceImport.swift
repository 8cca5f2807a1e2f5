package import Postgres

/// Puts chunks of devices into the registry, each in a transaction of its own.
///
/// Of what is known about a token the newer counts: a row does not overwrite what the app has reported since, and does not
/// revive what was found dead since. A chunk may be repeated.
package enum DeviceImport {
    /// What became of a chunk's rows.
    package struct Outcome: Sendable {
        package var inserted = 0
        package var updated = 0
        package var refused: [(line: Int, reason: String)] = []

        package init() {}
    }

    /// How often a chunk is begun anew, when an application was in the way.
    private static let tries = 10

    /// Puts a chunk in, whole or not at all.
    package static func load(_ chunk: DeviceChunk, _ connection: Connection) throws(PostgresError) -> Outcome {
        var failures = 0
        while true {
            do throws(PostgresError) {
                return try loadOnce(chunk, connection)
            } catch {
                failures += 1
                guard error.isRetryable || error.sqlState == .uniqueViolation, failures < tries else { throw error }
                try connection.script("ROLLBACK")
            }
        }
    }

    /// So many changed rows leave the planner with wrong beliefs until autovacuum comes by.
    package static let analyzedFrom = 10_000

    /// Has the planner look at the registry anew; where the user may not ask for that, nothing happens.
    package static func analyze(_ connection: Connection) throws(PostgresError) {
        try connection.script("SET client_min_messages = error; ANALYZE todoke.devices; RESET client_min_messages")
    }

    private static func loadOnce(_ chunk: DeviceChunk, _ connection: Connection) throws(PostgresError) -> Outcome {
        // What a pooler gives to others at the transaction's end must hold nothing of ours: tables go with it.
        try connection.script("BEGIN; SET LOCAL jit = off; SET LOCAL client_min_messages = warning; \(incoming)")
        try connection.copyIn("COPY pg_temp.todoke_incoming FROM STDIN")
        try connection.putCopy(chunk.text.span)
        _ = try connection.endCopy()
        var outcome = Outcome()
        let refused = try connection.query(refusal)
        for row in 0..<refused.rowCount {
            outcome.refused.append((refused.int(row, 0) ?? 0, refused.string(row, 1)))
        }
        try connection.script(
            """
            \(latest); ANALYZE pg_temp.todoke_latest;
            SET LOCAL enable_seqscan = off;
            """)
        // Into an empty registry, nothing is there that could have a newer token.
        if try connection.query(lock).int(0, 0) ?? 0 > 0 { try connection.query(retire) }
        let counts = try connection.query(merge)
        outcome.inserted = counts.int(0, 0) ?? 0
        outcome.updated = counts.int(0, 1) ?? 0
        try connection.script("COMMIT")
        return outcome
    }

    private static let incoming = """
        CREATE TEMP TABLE todoke_incoming (
            line bigint, app text, token text, user_id text, platform text, locale text, time_zone text, channels text[],
            app_version text, installation_id text, allows_notifications boolean, environment text, registered_at bigint,
            last_seen_at bigint, invalidated_at bigint, invalid_reason text
        ) ON COMMIT DROP
        """

    /// Takes away what cannot be a device, and says why: by the rules of `todoke.register_device`.
    private static let refusal = """
        WITH zones AS MATERIALIZED (
            SELECT z.name, todoke.is_time_zone(z.name) AS is_known
            FROM (SELECT DISTINCT time_zone AS name FROM pg_temp.todoke_incoming WHERE time_zone IS NOT NULL) AS z
        ), judged AS MATERIALIZED (
            SELECT i.line, CASE
                WHEN a.id IS NULL THEN 'there is no such app'
                WHEN i.environment <> a.environment
                    THEN format('environment is %L, and app %L is %s', left(i.environment, 40), a.name, a.environment)
                WHEN f.fault IS NOT NULL THEN f.fault[1]
                WHEN NOT z.is_known THEN 'time_zone is no zone that is known here'
                WHEN greatest(i.registered_at, i.last_seen_at, i.invalidated_at)
                    > extract(epoch FROM now() + interval '1 day') * 1000000 THEN 'a time is in the future'
                WHEN i.invalid_reason IS NOT NULL AND i.invalidated_at IS NULL THEN 'invalid_reason is without invalidated_at'
                WHEN octet_length(i.invalid_reason) > 500 THEN 'invalid_reason is longer than 500 bytes'
            END AS reason
            FROM pg_temp.todoke_incoming AS i
            LEFT JOIN todoke.apps AS a ON a.name = i.app
            LEFT JOIN zones AS z ON z.name = i.time_zone
            CROSS JOIN LATERAL (
                SELECT todoke.device_fault(
                    i.token, i.user_id, i.platform, i.locale, i.channels, i.installation_id, i.app_version) AS fault
            ) AS f
        ), refused AS (
            DELETE FROM pg_temp.todoke_incoming AS i USING judged AS j
            WHERE j.line = i.line AND j.reason IS NOT NULL RETURNING i.line, j.reason
        )
        SELECT line, reason FROM refused ORDER BY line
        """

    /// One row a token, the one seen last; and of an installation's tokens only that one is in use.
    private static let latest = """
        CREATE TEMP TABLE todoke_latest ON COMMIT DROP AS
        SELECT t.app, t.token, t.user_id, t.platform, t.locale, t.time_zone, t.channels, t.app_version, t.installation_id,
            t.allows_notifications, t.registered_at, t.seen, t.line,
            CASE WHEN t.rank > 1 THEN coalesce(t.seen, now()) ELSE t.invalidated_at END AS invalidated_at,
            CASE WHEN t.rank > 1 THEN 'REPLACED' ELSE t.invalid_reason END AS invalid_reason
        FROM (
            SELECT d.*, CASE WHEN d.invalidated_at IS NULL AND d.installation_id IS NOT NULL THEN row_number() OVER (
                PARTITION BY d.app, d.installation_id, d.invalidated_at IS NULL
                ORDER BY d.seen DESC NULLS LAST, d.line DESC) END AS rank
            FROM (
                SELECT DISTINCT ON (a.id, i.token) a.id AS app, i.token, i.user_id, i.platform, i.locale, i.time_zone,
                    i.channels, i.app_version, i.installation_id, i.allows_notifications, i.line, i.invalid_reason,
                    'epoch'::timestamptz + i.registered_at * interval '1 microsecond' AS registered_at,
                    'epoch'::timestamptz + i.invalidated_at * interval '1 microsecond' AS invalidated_at,
                    'epoch'::timestamptz
                        + coalesce(i.last_seen_at, i.registered_at) * interval '1 microsecond' AS seen
                FROM pg_temp.todoke_incoming AS i JOIN todoke.apps AS a ON a.name = i.app
                ORDER BY a.id, i.token, coalesce(i.last_seen_at, i.registered_at) DESC NULLS LAST, i.line DESC
            ) AS d
        ) AS t
        ORDER BY t.line
        """

    // Each row is one look into an index, whatever the planner believes about a table that it has not counted yet: that is
    // what OFFSET 0 and the SELECTs in place of joins are for.

    /// What is there and will change, in the order in which everybody locks it.
    private static let lock = """
        SELECT count(*) FROM (
            SELECT d.id FROM todoke.devices AS d
            WHERE d.id = ANY (ARRAY(
                SELECT o.id FROM pg_temp.todoke_latest AS n CROSS JOIN LATERAL (
                    SELECT d.id FROM todoke.devices AS d
                    WHERE d.app = n.app AND d.token = n.token AND d.last_seen_at < n.seen OFFSET 0
                ) AS o
                UNION
                \(replaced)))
            ORDER BY d.id FOR UPDATE) AS locked
        """

    /// The tokens in use whose installations have a newer one.
    private static let replaced = """
        SELECT o.id FROM pg_temp.todoke_latest AS n CROSS JOIN LATERAL (
            SELECT d.id FROM todoke.devices AS d
            WHERE d.app = n.app AND d.installation_id = n.installation_id AND d.invalidated_at IS NULL
                AND d.token <> n.token AND d.last_seen_at < n.seen
            OFFSET 0
        ) AS o
        WHERE n.installation_id IS NOT NULL AND n.invalidated_at IS NULL AND n.seen IS NOT NULL AND (
            SELECT d.last_seen_at >= n.seen OR d.invalidated_at >= n.seen
            FROM todoke.devices AS d WHERE d.app = n.app AND d.token = n.token) IS NOT TRUE
        """

    /// A newer token of an installation takes the place of the one that is in use.
    private static let retire = """
        UPDATE todoke.devices AS d SET invalidated_at = now(), invalid_reason = 'REPLACED'
        WHERE d.id = ANY (ARRAY(\(replaced)))
        """

    /// Its installation went to another token of this chunk; its own row may say where it is now.
    private static func isRetiredHere(_ table: String) -> String {
        "\(table).invalidated_at = now() AND \(table).invalid_reason = 'REPLACED'"
    }

    private static let merge = """
        WITH wanted AS MATERIALIZED (
            SELECT n.app, n.token, coalesce(n.user_id, o.user_id) AS user_id, coalesce(n.platform, o.platform) AS platform,
                coalesce(n.locale, o.locale) AS locale, coalesce(n.time_zone, o.time_zone) AS time_zone,
                coalesce(n.channels, o.channels, '{}') AS channels, coalesce(n.app_version, o.app_version) AS app_version,
                coalesce(n.installation_id, o.installation_id) AS installation_id,
                coalesce(n.allows_notifications, o.allows_notifications) AS allows_notifications,
                greatest(coalesce(n.registered_at, n.seen, n.invalidated_at, now()), o.registered_at) AS registered_at,
                coalesce(n.seen, n.invalidated_at, now()) AS last_seen_at, n.invalidated_at, n.invalid_reason, n.line
            FROM pg_temp.todoke_latest AS n LEFT JOIN LATERAL (
                SELECT d.* FROM todoke.devices AS d WHERE d.app = n.app AND d.token = n.token OFFSET 0
            ) AS o ON true
            WHERE o.id IS NULL OR n.seen > o.last_seen_at
                AND (o.invalidated_at IS NULL OR n.seen > o.invalidated_at OR \(isRetiredHere("o")))
        ), placed AS MATERIALIZED (
            SELECT w.*, (
                SELECT true FROM todoke.devices AS d WHERE d.app = w.app AND d.installation_id = w.installation_id
                    AND d.invalidated_at IS NULL AND d.token <> w.token LIMIT 1) AS is_replaced
            FROM wanted AS w
        ), merged AS (
            INSERT INTO todoke.devices AS d (
                app, token, user_id, platform, locale, time_zone, channels, app_version, installation_id,
                allows_notifications, registered_at, last_seen_at, invalidated_at, invalid_reason
            )
            SELECT app, token, user_id, platform, locale, time_zone, channels, app_version, installation_id,
                allows_notifications, registered_at, last_seen_at,
                CASE WHEN is_replaced THEN coalesce(invalidated_at, now()) ELSE invalidated_at END,
                CASE WHEN is_replaced AND invalidated_at IS NULL THEN 'REPLACED' ELSE invalid_reason END
            FROM placed ORDER BY line
            ON CONFLICT (app, token) DO UPDATE SET
                user_id = excluded.user_id, platform = excluded.platform, locale = excluded.locale,
                time_zone = excluded.time_zone, channels = excluded.channels, app_version = excluded.app_version,
                installation_id = excluded.installation_id, allows_notifications = excluded.allows_notifications,
                registered_at = excluded.registered_at, last_seen_at = excluded.last_seen_at,
                invalidated_at = excluded.invalidated_at, invalid_reason = excluded.invalid_reason, invalid_evidence = NULL
            WHERE excluded.last_seen_at > d.last_seen_at
                AND (d.invalidated_at IS NULL OR excluded.last_seen_at > d.invalidated_at OR \(isRetiredHere("d")))
            RETURNING d.xmax = 0 AS is_new
        )
        SELECT count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new) FROM merged
        """
}
