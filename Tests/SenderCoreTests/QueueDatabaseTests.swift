import Operations
import Postgres
import Queue
import Reactor
import TestSupport
import Testing

@testable import SenderCore

/// The sender's connections on a real server: what comes and goes, and what the machine hears of it.
@Suite(.serialized) struct QueueDatabaseTests {
    /// A loop around one database, with the machine's place taken by the test.
    private final class Shell {
        let reactor: Reactor
        let events = EventQueue()
        let database: QueueDatabase
        private var heard: [SenderEvent] = []
        private let deadline = Reactor.now + 60_000_000_000

        init(
            _ scratch: ScratchDatabase, direct: String? = nil, more: String = "",
            _ change: (inout QueueDatabaseSettings) -> Void = { _ in }
        ) throws {
            reactor = try Reactor()
            func conninfo(_ text: String) throws -> Conninfo {
                try Conninfo(text, applicationName: "lanes", writes: true)
            }
            var settings = QueueDatabaseSettings(
                conninfo: try conninfo(scratch.connectionString + more),
                directConninfo: try conninfo(direct ?? scratch.connectionString + more),
                registration: [.text("host"), .int(1), .text("0"), .array([Optional("recipes")])],
                appNames: ["recipes"], leaseSeconds: 60)
            change(&settings)
            database = QueueDatabase(settings, reactor: reactor, events: events)
        }

        /// Turns the loop until such an event comes; those before it are dropped.
        @discardableResult
        func wait<R>(_ what: String, for match: (SenderEvent) -> R?) throws -> R {
            while true {
                while !heard.isEmpty {
                    if let found = match(heard.removeFirst()) { return found }
                }
                let now = Reactor.now
                try #require(now < deadline, "\(what) did not come")
                database.turn(now: now)
                heard += events.drain()
                guard heard.isEmpty else { continue }
                let next = min(database.deadline ?? .max, now + 1_000_000_000)
                try reactor.wait(atMostNanoseconds: max(0, next - now))
                heard += events.drain()
            }
        }

        func untilReady() throws { try wait("ready") { if case .databaseReady = $0 { true } else { nil } } }

        func untilLost() throws -> String {
            try wait("lost") { if case .databaseLost(let failure) = $0 { failure.what } else { nil } }
        }

        func untilListening(_ wanted: Bool = true) throws {
            try wait("listening \(wanted)") { if case .listening(wanted) = $0 { true } else { nil } }
        }

        func untilWoken() throws -> String? {
            try wait("woken") { if case .woken(let app) = $0 { .some(app) } else { nil } }
        }
    }

    private func withShell(
        more: String = "", _ change: (inout QueueDatabaseSettings) -> Void = { _ in },
        _ body: (Shell, Connection) throws -> Void
    ) throws {
        try ScratchDatabase.with { scratch in
            try scratch.migrate()
            let connection = try scratch.connect()
            try connection.script("INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo')")
            try body(try Shell(scratch, more: more, change), connection)
        }
    }

    /// Found out before anything is claimed: results that the schema has no place for would be lost with their leases.
    @Test func aSchemaOfTheReleaseBeforeIsSaidAtOnceAndItsUpgradeWaitedFor() throws {
        try ScratchDatabase.with { scratch in
            let needed = SenderRegistration.schemaVersion
            let files = try ScratchDatabase.migrations()
            let connection = try scratch.connect()
            _ = try Migrator(files: Array(files.prefix(needed - 1))).migrate(connection)
            let shell = try Shell(scratch)
            #expect(
                try shell.untilLost()
                    == "the queue's schema is at version \(needed - 1), and this sender needs \(needed)")
            _ = try Migrator(files: files).migrate(connection)
            try shell.untilReady()
        }
    }

    @Test func aListenerProvesItselfAndHearsOfApps() throws {
        try withShell { shell, connection in
            try shell.untilReady()
            try shell.untilListening()
            #expect(try shell.untilWoken() == nil, "what was queued before it listened was not heard")
            try connection.script("NOTIFY todoke_due, 'recipes'")
            #expect(try shell.untilWoken() == "recipes")
            try connection.script("NOTIFY todoke_due")
            #expect(try shell.untilWoken() == nil)
        }
    }

    @Test func aListenerThatBreaksComesBackAndNothingElseIsLost() throws {
        try withShell { shell, connection in
            try shell.untilReady()
            try shell.untilListening()
            let killed = try connection.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE '%listen%' AND pid <> pg_backend_pid()"
            ).rowCount
            #expect(killed == 1)
            var seen: [Bool] = []
            while seen != [false, true] {
                try shell.wait("the listener") { event in
                    switch event {
                    case .listening(let isListening): seen.append(isListening)
                    case .databaseLost(let failure): Issue.record("\(failure)")
                    default: return Bool?.none
                    }
                    return true
                }
            }
            #expect(try shell.untilWoken() == nil, "something may have been queued meanwhile")
        }
    }

    /// A notification that never arrives, as behind a pooler of transactions: here the listener is on another database.
    @Test func whereNotificationsDoNotArriveItSaysSo() throws {
        try ScratchDatabase.with { scratch in
            try scratch.migrate()
            let shell = try Shell(scratch, direct: "dbname=postgres") {
                $0.listenTimeout = 50_000_000
                $0.listenSoon = 1_000_000
            }
            try shell.untilReady()
            try shell.untilListening(false)
            // It may have been slow this once, so it is tried again.
            try shell.untilListening(false)
            shell.database.askUrgent(apps: [1])
            try shell.wait("urgent") { if case .urgent = $0 { true } else { nil } }
        }
    }

    @Test func urgentQuestionsPassAClaimThatWaits() throws {
        try withShell { shell, connection in
            try shell.untilReady()
            try shell.untilListening()
            shell.database.askWork()
            try shell.wait("work") { if case .work = $0 { true } else { nil } }
            // The work lane is held up by a lock that urgent questions do not need.
            try connection.script("BEGIN; LOCK TABLE todoke.senders")
            shell.database.askWork()
            shell.database.askUrgent(apps: [1])
            try shell.wait("urgent") { event in
                if case .work = event { Issue.record("the lock held nothing up") }
                return if case .urgent = event { true } else { nil }
            }
            try connection.script("COMMIT")
            try shell.wait("work") { if case .work = $0 { true } else { nil } }
        }
    }

    @Test func aServerThatDoesNotAnswerIsLostAndItsProcessEnded() throws {
        try withShell({ $0.statementTimeout = 1_000_000_000 }) { shell, connection in
            try shell.untilReady()
            try connection.script("BEGIN; LOCK TABLE todoke.apps")
            shell.database.askWork()
            #expect(try shell.untilLost().contains("did not answer the statement for work within 1 s"))
            try shell.untilReady()
            // The process that was given up waits for the lock still, until the new connection ends it.
            func stuck() throws -> Int? {
                try connection.query(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lanes' AND wait_event_type = 'Lock'"
                ).int(0, 0)
            }
            while try stuck() != 0 {
                shell.database.heartbeat(
                    SenderVitals(held: 0, duplicateRisk: 0, state: "running", rate: 0))
                try shell.wait("heartbeat") { if case .heartbeatDone = $0 { true } else { nil } }
            }
            try connection.script("COMMIT")
            shell.database.askWork()
            try shell.wait("work") { if case .work = $0 { true } else { nil } }
        }
    }

    @Test func aServerThatTurnsReadOnlyIsLostUntilItTakesWrites() throws {
        try withShell { shell, connection in
            try shell.untilReady()
            let database = try connection.query("SELECT current_database()").string(0, 0)
            try connection.script("ALTER DATABASE \(database) SET default_transaction_read_only = on")
            try connection.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lanes' AND datname = current_database()"
            )
            _ = try shell.untilLost()
            let why = try shell.untilLost()
            #expect(why.contains("takes no writes"), "\(why)")
            try connection.script(
                "SET default_transaction_read_only = off; ALTER DATABASE \(database) RESET default_transaction_read_only"
            )
            try shell.untilReady()
        }
    }

    /// The session was writable when it was checked: the first statement that writes finds out.
    @Test func aStatementRefusedForWritingIsALoss() throws {
        try withShell { shell, connection in
            try shell.untilReady()
            // What a failover in place looks like from a connection that stays open.
            try connection.script(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    RAISE EXCEPTION 'cannot execute UPDATE in a read-only transaction' USING ERRCODE = '25006'; END $$;
                CREATE TRIGGER refuse BEFORE UPDATE ON todoke.senders FOR EACH STATEMENT EXECUTE FUNCTION refuse()
                """)
            shell.database.heartbeat(SenderVitals(held: 0, duplicateRisk: 0, state: "running", rate: 0))
            #expect(try shell.untilLost().contains("read-only"))
        }
    }

    @Test func aSenderWhoseRowIsGoneRegistersAgain() throws {
        try withShell { shell, connection in
            try shell.untilReady()
            let vitals = SenderVitals(held: 2, duplicateRisk: 3, state: "running", rate: 0)
            try connection.script("DELETE FROM todoke.senders")
            shell.database.heartbeat(vitals)
            try shell.wait("registered again") { if case .registeredAgain = $0 { true } else { nil } }
            try shell.wait("heartbeat") { if case .heartbeatDone = $0 { true } else { nil } }
            let id = shell.database.senderID.map { "\($0)" } ?? "none"
            func row() throws -> String {
                try connection.query("SELECT concat_ws(' ', id, host, apps, in_flight) FROM todoke.senders").string(
                    0, 0)
            }
            #expect(try row() == "\(id) host {recipes} 0")
            shell.database.heartbeat(vitals)
            try shell.wait("heartbeat") { event in
                if case .registeredAgain = event { Issue.record("the row was there") }
                return if case .heartbeatDone = event { true } else { nil }
            }
            #expect(try row() == "\(id) host {recipes} 2")
        }
    }

    @Test func housekeepingEndsWhatExpiredAndMakesPartitions() throws {
        try withShell { shell, connection in
            try connection.script(
                """
                INSERT INTO todoke.notifications (app, notification_id) VALUES (1, 'n');
                INSERT INTO todoke.messages (notification, app, day, due_at, expires_at)
                SELECT n.id, 1, n.day, now() - interval '1 hour', now() - interval '1 minute'
                FROM todoke.notifications n, generate_series(1, 2500);
                DELETE FROM todoke.senders;
                """)
            let latest = try connection.query("SELECT max(d)::text FROM todoke.message_days() AS d").string(0, 0)
            let name = "messages_" + latest.filter { $0 != "-" }
            try shell.untilReady()
            shell.database.askWork()
            try shell.wait("work") { if case .work = $0 { true } else { nil } }
            try connection.script("DROP TABLE todoke.\(name)")
            try connection.script("SELECT todoke.ensure_partitions(3)")
            shell.database.keepHouse(apps: [1], isThorough: true)
            let expired = try shell.wait("houseKept") { if case .houseKept(let count) = $0 { count } else { nil } }
            #expect(expired == 2_500)
        }
    }

    @Test func aThoroughLookNeedsNoAppInTrouble() throws {
        try withShell { shell, connection in
            try shell.untilReady()
            try connection.script(
                """
                INSERT INTO todoke.senders (host, pid, version, apps, heartbeat_at)
                VALUES ('gone', 1, '0', '{}', now() - interval '31 days')
                """)
            func old() throws -> Int? {
                try connection.query("SELECT count(*) FROM todoke.senders WHERE host = 'gone'").int(0, 0)
            }
            shell.database.keepHouse(apps: [], isThorough: false)
            try shell.wait("houseKept") { if case .houseKept = $0 { true } else { nil } }
            #expect(try old() == 1)
            shell.database.keepHouse(apps: [], isThorough: true)
            try shell.wait("houseKept") { if case .houseKept = $0 { true } else { nil } }
            #expect(try old() == 0)
        }
    }
}
