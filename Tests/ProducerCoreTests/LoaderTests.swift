import Delivery
import Dispatch
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import ProducerCore
@testable import Queue

@Suite("Loading in chunks, alone and against others", .scratchDatabase(prepare: migrate))
struct LoaderTests {
    private let database: ScratchDatabase

    init() throws { database = try ScratchDatabase.shared() }

    private func request(_ id: String) -> LoadRequest {
        LoadRequest(app: "recipes", notificationID: id, templateDigest: "t", definitionDigest: "d")
    }

    private func add(_ numbers: Range<Int>, to loader: Loader) throws {
        let none: [UInt8] = []
        for number in numbers {
            let payload = Array("{\"token\":\"t\(number)\"}".utf8)
            var digest = [UInt8](repeating: 0, count: 32)
            for index in 0..<8 { digest[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
            try loader.add(
                payload.span, target: MessageTarget(kind: .token, value: "t\(number)"), userID: none.span,
                key: DedupeKey(digest: digest), due: loader.dueMicroseconds, ttl: nil)
        }
        try loader.settle()
    }

    @Test("A run that dies leaves whole chunks, and the next one completes it at once")
    func crash() throws {
        do {
            // Goes away without a word, as a killed process does.
            let loader = try Loader(try database.connect(), request("crash"))
            try add(0..<700, to: loader)
        }
        #expect(try database.queued("crash") == [200, 200])
        let loader = try Loader(try database.connect(), request("crash"))
        try add(0..<700, to: loader)
        try loader.finish()
        #expect(try database.queued("crash") == [700, 700])
        #expect(loader.counts == LoadCounts(queued: 500, alreadyQueued: 200, rejected: 0))
    }

    @Test("Another run while one is alive is told so")
    func busy() throws {
        let first = try Loader(try database.connect(), request("busy"))
        #expect {
            try Loader(try database.connect(), request("busy"))
        } throws: { error in
            if case LoadError.busy? = error as? LoadError { true } else { false }
        }
        try add(0..<10, to: first)
        try first.finish()
        let second = try Loader(try database.connect(), request("busy"))
        try add(0..<20, to: second)
        try second.finish()
        #expect(try database.queued("busy") == [20, 20])
    }

    @Test("A run that waits begins when the other has ended, and a run that is skipped says so")
    func waiting() throws {
        let folder = try Folder()
        let template = try folder.file("t.json", #"{"token":"{{token}}"}"#)
        let audience = try folder.file("a.csv", "token\nnew-1\nnew-2\n")
        let line = ["--template", template, "--audience", audience, "--append"]
        let first = try Loader(try database.connect(), request("wait"))
        try add(0..<10, to: first)
        #expect(produce(database, "wait", line) == 75)
        let outcome = Mutex<Int32?>(nil)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { [database] in
            let code = produce(database, "wait", line + ["--if-running", "wait"])
            outcome.withLock { $0 = code }
            done.signal()
        }
        // It has been told once that another run is there when it sleeps for longer than a run is given to be seen dead.
        let sleepers = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND query = 'SELECT pg_sleep(1)' AND state = 'active'
            """
        let connection = try database.connect()
        while try connection.query(sleepers).int(0, 0) == 0 { try connection.query("SELECT pg_sleep(0.02)") }
        #expect(outcome.withLock { $0 } == nil)
        try first.finish()
        done.wait()
        #expect(outcome.withLock { $0 } == 0)
        #expect(try database.queued("wait") == [12, 12])
    }

    @Test("A run that waits for its first row keeps its lease")
    func renewal() throws {
        let loader = try Loader(try database.connect(), request("slow"), renewEvery: 0.02)
        let connection = try database.connect()
        let one = "todoke.notifications WHERE notification_id = 'slow'"
        try connection.script(
            "UPDATE todoke.notifications SET run_until = now() - interval '1 s' WHERE notification_id = 'slow'")
        while try connection.query("SELECT run_until > now() FROM \(one)").bool(0, 0) != true {
            try connection.query("SELECT pg_sleep(0.02)")
        }
        // And once it is over nothing takes it up again.
        try loader.finish()
        #expect(try connection.query("SELECT run_id IS NULL AND run_until IS NULL FROM \(one)").bool(0, 0) == true)
    }

    @Test("A run whose lease ran out is taken over, and writes nothing more")
    func fencing() throws {
        let first = try Loader(try database.connect(), request("fence"))
        try add(0..<200, to: first)
        try database.connect().script(
            "UPDATE todoke.notifications SET run_until = now() - interval '1 second' WHERE notification_id = 'fence'")
        let second = try Loader(try database.connect(), request("fence"))
        #expect {
            try add(200..<2_000, to: first)
        } throws: { error in
            if case LoadError.leaseLost? = error as? LoadError { true } else { false }
        }
        first.abandon()
        try add(0..<300, to: second)
        try second.finish()
        #expect(try database.queued("fence") == [300, 300])
    }

    @Test("Behind a pooling proxy, where the server process says nothing, the lease alone decides")
    func pooled() throws {
        let first = try Loader(try database.connect(), request("pooled"))
        try add(0..<200, to: first)
        let unknown = RunIdentity(processID: 0, startMicroseconds: 0, random: 7)
        #expect(unknown.leaseSeconds < 120)
        try database.connect().query(
            "UPDATE todoke.notifications SET run_id = $1::uuid WHERE notification_id = 'pooled'", [.text(unknown.text)])
        #expect(throws: LoadError.self) { try Loader(try database.connect(), request("pooled")) }
    }

    @Test("A run's identity survives its text")
    func identity() {
        let run = RunIdentity(processID: 4_194_304, startMicroseconds: 1_796_000_000_123_456, random: .max)
        #expect(RunIdentity(run.text) == run)
        #expect(run.text.count == 36)
    }

    @Test("Rows that an application queues for the same notification meanwhile are not queued twice")
    func race() throws {
        let loader = try Loader(try database.connect(), request("race"))
        try add(0..<200, to: loader)
        try database.connect().script(
            """
            WITH n AS (SELECT id, day, app FROM todoke.notifications WHERE notification_id = 'race'),
            m AS (INSERT INTO todoke.messages (day, notification, app) SELECT day, id, app FROM n RETURNING id, day, notification)
            INSERT INTO todoke.payloads (id, day, notification, target_kind, target, dedupe_key, payload)
            SELECT id, day, notification, 'token', 't250', 'fa000000-0000-0000-0000-000000000000', '{}' FROM m
            """)
        try add(200..<400, to: loader)
        try loader.finish()
        #expect(try database.queued("race") == [400, 400])
        #expect(loader.counts == LoadCounts(queued: 399, alreadyQueued: 1, rejected: 0))
    }

    @Test("A notification cancelled in mid-run takes no further chunk")
    func cancelled() throws {
        let loader = try Loader(try database.connect(), request("stop"))
        try add(0..<200, to: loader)
        try database.connect().script(
            "UPDATE todoke.notifications SET cancelled_at = now() WHERE notification_id = 'stop'")
        #expect {
            try add(200..<2_000, to: loader)
        } throws: { error in
            if case LoadError.cancelled? = error as? LoadError { true } else { false }
        }
        #expect(try database.queued("stop") == [200, 200])
    }

    @Test("Many runs at once queue each target once", arguments: [4])
    func together(_ runs: Int) async throws {
        let request = request("together")
        let database = database
        let finished = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<runs {
                group.addTask {
                    do {
                        let loader = try Loader(try database.connect(), request)
                        try add(0..<3_000, to: loader)
                        try loader.finish()
                        return true
                    } catch LoadError.busy { return false }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(finished >= 1)
        #expect(try database.queued("together") == [3_000, 3_000])
    }

    @Test(
        "Days are counted as Postgres counts them",
        arguments: [
            ("2000-01-01", 0), ("1999-12-31", -1), ("2000-02-29", 59), ("2024-03-01", 8_826), ("2026-11-30", 9_830),
        ])
    func days(_ text: String, _ days: Int32) throws {
        #expect(BinaryCopy.days(text) == days)
        #expect(try database.count("SELECT $1::date - '2000-01-01'::date", [.text(text)]) == Int(days))
    }

    @Test("One wake-up for a chunk, with the app's name")
    func wakesSenders() throws {
        // Notifications reach everybody in a database: a shared one has other tests' too.
        try ScratchDatabase.with { alone in
            try migrate(alone)
            let listener = try alone.connect()
            try listener.script("LISTEN todoke_due")
            let loader = try Loader(try alone.connect(), request("wake"))
            try add(0..<1_200, to: loader)
            try loader.finish()
            // Two chunks: of 200 and of 1,000.
            var heard: [String] = []
            while heard.count < 2 {
                let news = try listener.notifications(waitMilliseconds: 5_000)
                guard !news.isEmpty else { break }
                heard += news.map(\.payload)
            }
            #expect(heard == ["recipes", "recipes"])
        }
    }
}
