import Postgres
import Queue
import TestSupport
import Testing

/// The sender's statements keep their plans over 32 day partitions, whatever the planner knows about the day: no
/// sequential scan, no walk through an index, a few pages a row.
///
/// 200,000 messages in the day; with a million the wrong plans take 100 to 250 times as long as the right ones.
@Suite(.serialized) struct HotStatementTests {
    /// What happened to the day before the statements run.
    enum History: CaseIterable {
        /// Loaded, and nobody analysed it.
        case neverAnalysed
        /// Analysed while it was empty, then loaded.
        case analysedEmpty
        /// Loaded, then analysed.
        case analysed
        /// Loaded, then autovacuum got to the messages, but not yet to the payloads.
        case messagesAnalysed
        /// Analysed when nearly everything was finished, then loaded.
        case analysedFinished
    }

    private static let rows = 200_000
    private static let batch = 500
    private static let sender = 7

    private struct LoadedDay {
        let connection: Connection
        let claim: Claim
        let partition: String
    }

    private func withDay(_ history: History, _ body: (LoadedDay) throws -> Void) throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            let connection = try database.connect()
            try connection.script(
                """
                SELECT todoke.ensure_partitions(30);
                INSERT INTO todoke.apps (name, project_id) VALUES ('plans', 'demo');
                INSERT INTO todoke.notifications (app, notification_id) VALUES (1, 'broadcast');
                """)
            let text = try connection.query("SELECT day::text FROM todoke.notifications").string(0, 0)
            let day = try #require(Day(text))
            let suffix = String(text.filter { $0 != "-" })
            // Autovacuum would decide what the planner knows.
            for table in ["messages", "payloads"] {
                try connection.script("ALTER TABLE todoke.\(table)_\(suffix) SET (autovacuum_enabled = off)")
            }
            let claim = Claim(app: 1, priority: 5, day: day, limit: Self.batch)
            for _ in 0..<10 { try connection.query(claim.statement(sender: Self.sender, leaseSeconds: 60)) }

            switch history {
            case .neverAnalysed:
                try load(connection, Self.rows, "pending")
            case .analysedEmpty:
                try analyse(connection, suffix)
                try load(connection, Self.rows, "pending")
            case .analysed:
                try load(connection, Self.rows, "pending")
                try analyse(connection, suffix)
            case .messagesAnalysed:
                try load(connection, Self.rows, "pending")
                try connection.script("ANALYZE todoke.messages_\(suffix)")
            case .analysedFinished:
                try load(connection, Self.rows / 2, "sent")
                try load(connection, 300, "pending")
                try analyse(connection, suffix)
                try load(connection, Self.rows / 2, "pending")
            }
            try body(LoadedDay(connection: connection, claim: claim, partition: suffix))
        }
    }

    private func load(_ connection: Connection, _ count: Int, _ state: String) throws {
        try connection.query(
            """
            WITH loaded AS (
                INSERT INTO todoke.messages (notification, app, day, state, finished_at)
                SELECT n.id, n.app, n.day, '\(state)', CASE WHEN '\(state)' = 'sent' THEN now() END
                FROM todoke.notifications n, generate_series(1, \(count)) RETURNING id, day, notification
            )
            INSERT INTO todoke.payloads (id, day, notification, target_kind, target, dedupe_key, payload)
            SELECT id, day, notification, 'token', 'token-' || id, md5(id::text)::uuid, '{"token":"t"}' FROM loaded
            """)
    }

    private func analyse(_ connection: Connection, _ suffix: String) throws {
        try connection.script("ANALYZE todoke.messages_\(suffix), todoke.payloads_\(suffix)")
    }

    /// Claims and gives back what was claimed, by the real statement.
    private func claim(_ day: LoadedDay) throws -> [ClaimedMessage] {
        try day.claim.decode(
            day.connection.query(
                day.claim.statement(sender: Self.sender, leaseSeconds: 60), format: Claim.format)
        ).messages
    }

    private func expectLookups(
        _ plan: QueryPlan, _ day: LoadedDay, rows: Int = 2 * batch, pagesPerRow: Int = 60,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for node in plan.nodes where node.relation?.hasSuffix(day.partition) == true {
            #expect(node.type != "Seq Scan", "\(node)", sourceLocation: sourceLocation)
            #expect(node.rowsRead <= rows, "\(node)", sourceLocation: sourceLocation)
        }
        #expect(
            plan.nodes.contains { $0.type == "Merge Join" } == false, "\(plan.nodes)", sourceLocation: sourceLocation)
        // JIT starts at 100,000, and costs more than the statement: no setting of the session keeps it away behind a pooler.
        #expect(plan.cost < 20_000, "\(plan)", sourceLocation: sourceLocation)
        #expect(plan.buffers <= pagesPerRow * Self.batch, "\(plan)", sourceLocation: sourceLocation)
    }

    @Test(arguments: History.allCases) func everyStatementIsALookup(_ history: History) throws {
        try withDay(history) { (day: LoadedDay) throws in
            // Enough in flight that a walk over the index of sending messages would show.
            var claimed: [ClaimedMessage] = []
            for _ in 0..<10 { claimed += try claim(day) }
            try #require(claimed.count == 10 * Self.batch)
            try claimIsALookup(day)
            // What the notification says of its messages has to come with them, not to be looked for.
            try day.connection.script(
                "BEGIN; UPDATE todoke.notifications SET validate_only = true, delivery = 'at_most_once'")
            try claimIsALookup(day)
            try day.connection.script("ROLLBACK")
            let outcomes: [MessageResult.Next] = [
                .sent, .failed, .pending(delayMilliseconds: 9_000, isAttemptSpent: true),
            ]
            for (index, next) in outcomes.enumerated() {
                try recordIsALookup(day, claimed[(index * Self.batch)..<((index + 1) * Self.batch)], next)
            }
            let sending = try day.connection.query("SELECT FROM todoke.messages WHERE state = 'sending'").rowCount
            #expect(sending == 8 * Self.batch)
            try lookForWorkIsALookup(day)
            try rescueIsALookup(day)
        }
    }

    private func claimIsALookup(_ day: LoadedDay) throws {
        let plan = try QueryPlan(day.claim.statement(sender: Self.sender, leaseSeconds: 60), on: day.connection)
        expectLookups(plan, day)
        let picks = plan.nodes.filter { $0.index?.contains("app_priority_due_at_id") == true }
        #expect(picks.map(\.rowsRead) == [Self.batch])
    }

    private func recordIsALookup(
        _ day: LoadedDay, _ claimed: ArraySlice<ClaimedMessage>, _ next: MessageResult.Next
    ) throws {
        let results = claimed.map {
            MessageResult(
                key: $0.key, next: next, httpStatus: 200, errorCode: next == .sent ? nil : "INTERNAL",
                outcome: next == .sent ? nil : "retry")
        }
        let record = try #require(Record.batches(of: results).first)
        let statement = record.statement(sender: Self.sender)
        let verification = record.verification(sender: Self.sender)
        let plan = try QueryPlan(statement, record.parameters, on: day.connection)
        expectLookups(plan, day, pagesPerRow: 90)
        // The guard must not walk the index of sending messages once a row.
        for node in plan.nodes where node.index?.hasPrefix("messages_") == true {
            #expect(node.index?.hasSuffix("_pkey") == true, "\(next): \(node)")
        }
        expectLookups(try QueryPlan(verification, record.parameters, on: day.connection), day)
        let matched = try day.connection.query(verification, record.parameters)
        #expect(matched.int(0, 0) == Self.batch)
    }

    private func lookForWorkIsALookup(_ day: LoadedDay) throws {
        let days = try Work.decodeDays(day.connection.query(Work.daysStatement))
        #expect(days.contains(day.claim.day))
        let plan = try QueryPlan(Work.dueStatement(apps: [1], days: days), on: day.connection)
        expectLookups(plan, day, pagesPerRow: 10)
        let drained = try QueryPlan(Work.unfinishedStatement(apps: [1]), on: day.connection)
        expectLookups(drained, day, pagesPerRow: 10)
    }

    /// It has to look at what is in flight, and no further.
    private func rescueIsALookup(_ day: LoadedDay) throws {
        try day.connection.script(
            "UPDATE todoke.messages SET lease_until = now() - interval '1 s' WHERE state = 'sending'")
        let plan = try QueryPlan(Rescue.statement(apps: [1]), on: day.connection)
        expectLookups(plan, day, rows: 8 * Self.batch, pagesPerRow: 240)
        let sending = try day.connection.query("SELECT FROM todoke.messages WHERE state = 'sending'").rowCount
        #expect(sending == 8 * Self.batch - Rescue.limit)
    }
}
