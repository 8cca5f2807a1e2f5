package import Operations
package import Postgres

/// Goes over an app's proofs of dead tokens and marks what the registry has not marked, or takes marks back.
///
/// Each step is a transaction of its own with at most 1,000 rows, and rows that somebody holds are left for another time.
package struct DeadTokenSweep {
    /// What was found.
    package struct Report: Equatable, Sendable {
        /// Since when devices of the app are not marked; `nil` when they are.
        package var heldSince: String?
        package var proofs = 0
        /// Devices that were marked, or would be.
        package var devices = 0
        /// Whether a hold was ended.
        package var isReleased = false
    }

    private let connection: Connection
    private let app: String

    package init(_ connection: Connection, app: String) {
        self.connection = connection
        self.app = app
    }

    /// Counts the devices whose tokens are proven dead, and with `confirm` marks them and ends a hold.
    ///
    /// Told after each step how many proofs were looked at.
    package func mark(confirm: Bool, progress: (Int) -> Void = { _ in }) throws(Failure) -> Report {
        var report = Report(heldSince: try heldSince())
        var after: [Value] = [.text("-infinity"), .int(0)]
        while true {
            let step = try query(
                """
                SELECT looked, marked, to_char(next AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US+00'), next_id
                FROM todoke.sweep_dead_tokens($1, NOT $2::boolean, $3::timestamptz, $4::bigint)
                """, [.text(app), .text(confirm ? "true" : "false")] + after)
            let looked = step.int(0, 0) ?? 0
            guard looked > 0 else { break }
            report.proofs += looked
            report.devices += step.int(0, 1) ?? 0
            after = [.text(step.string(0, 2)), .int(step.int(0, 3) ?? 0)]
            progress(report.proofs)
        }
        if confirm { report.isReleased = try release(proofsWereWrong: false) }
        return report
    }

    /// Takes back the marks since `since` (seconds since 1970), or since two hours before the hold; then what was proven so far counts no more.
    ///
    /// Throws a ``Failure`` when neither is known, or when the time has not come.
    package func revive(since: Int?, progress: (Int) -> Void = { _ in }) throws(Failure) -> Report {
        var report = Report(heldSince: try heldSince())
        guard since != nil || report.heldSince != nil else {
            throw Failure(
                .usage, "no device of the app is held, so it is not known since when the marks are wrong",
                remedy: "name the time with --since")
        }
        let isAhead = try query("SELECT to_timestamp($1::bigint) > now()", [.optional(since)])
        guard isAhead.bool(0, 0) != true else {
            throw Failure(.usage, "--since is in the future", remedy: "name the time from which on the marks are wrong")
        }
        while true {
            let step = try query(
                """
                SELECT r.looked, r.revived FROM todoke.apps AS a CROSS JOIN LATERAL todoke.revive_devices(
                    $1, coalesce(to_timestamp($2::bigint), a.dead_tokens_held_at - interval '2 h')) AS r
                WHERE a.name = $1
                """, [.text(app), .optional(since)])
            guard let looked = step.int(0, 0), looked > 0 else { break }
            report.devices += step.int(0, 1) ?? 0
            progress(report.devices)
        }
        report.isReleased = try release(proofsWereWrong: true)
        return report
    }

    private func heldSince() throws(Failure) -> String? {
        let rows = try query(
            """
            SELECT to_char(dead_tokens_held_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS+00') FROM todoke.apps
            WHERE name = $1
            """, [.text(app)])
        guard rows.rowCount > 0 else {
            throw Failure(
                .data, "there is no app \(GivenText.quoted(app))", remedy: "SELECT name FROM todoke.apps has them all")
        }
        return rows.isNull(0, 0) ? nil : rows.string(0, 0)
    }

    private func release(proofsWereWrong: Bool) throws(Failure) -> Bool {
        try query(
            "SELECT todoke.end_dead_token_hold($1, $2::boolean)",
            [.text(app), .text(proofsWereWrong ? "true" : "false")]
        ).bool(0, 0) ?? false
    }

    private func query(_ sql: String, _ parameters: [Value]) throws(Failure) -> QueryResult {
        do throws(PostgresError) { return try connection.query(sql, parameters) } catch {
            guard error.sqlState != .insufficientPrivilege else {
                throw Failure(
                    .configuration, "sweeping dead tokens failed: \(error.message)",
                    remedy: "run it as a member of todoke_owner")
            }
            throw Failure(error, while: "sweeping dead tokens")
        }
    }
}
