import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

@Suite("Health of the sender") struct SenderHealthTests {
    private let second = MachineHarness.second

    /// A machine with posts under way, and the metrics that saw it.
    private func running(messages: Int = 2) -> (MachineHarness, SenderMetrics) {
        var harness = MachineHarness { $0.drains = false }
        var metrics = SenderMetrics(settings: harness.machine.settings, now: harness.now)
        metrics.receive(MachineHarness.work(), now: harness.now)
        if messages > 0 {
            harness.start(messages: messages)
        } else {
            harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * second))
            // What it asks for by itself is not of interest.
            _ = harness.take()
        }
        for action in harness.take() { metrics.perform(action, now: harness.now) }
        return (harness, metrics)
    }

    private func stuck(_ harness: MachineHarness, _ metrics: SenderMetrics, after seconds: Int64) -> [String] {
        let now = harness.now + seconds * second
        let health = SenderHealth(settings: harness.machine.settings, statementTimeout: 15 * second)
        return health.stuck(metrics, harness.machine.snapshot(now: now), now: now)
    }

    @Test("A post that outlives its limit by five seconds is stuck; one that was answered is not")
    func posts() {
        var (harness, metrics) = running()
        // 20 s for a post.
        #expect(stuck(harness, metrics, after: 25) == [])
        #expect(stuck(harness, metrics, after: 26) == ["2 of the posts under way are older than 25 s, one 26 s"])
        for slot in 0..<2 {
            let event = SenderEvent.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200))
            metrics.receive(event, now: harness.now)
            harness.hear(event)
        }
        #expect(stuck(harness, metrics, after: 26) == [])
    }

    @Test("A statement without an answer for a minute is stuck, until it is answered, fails or its connection is lost")
    func statements() {
        let (harness, quiet) = running(messages: 0)
        let failure = Failure(.unavailable, "x", remedy: "y")
        for event in [
            SenderEvent.statementFailed(.work, failure), MachineHarness.work(), .databaseLost(failure),
        ] {
            var metrics = quiet
            metrics.perform(.askWork, now: harness.now)
            #expect(stuck(harness, metrics, after: 60) == [])
            #expect(stuck(harness, metrics, after: 61) == ["the statement for work has had no answer for 61 s"])
            metrics.receive(event, now: harness.now)
            #expect(stuck(harness, metrics, after: 61) == [])
        }
    }

    @Test("A record statement counts from when it was sent")
    func records() throws {
        var (harness, metrics) = running(messages: 0)
        let result = MessageResult(key: MessageKey(id: 1, day: MachineHarness.day, claimNumber: 1), next: .sent)
        let record = try #require(Record.batches(of: [result]).first)
        metrics.perform(.record(record), now: harness.now)
        harness.now += second
        metrics.perform(.record(record), now: harness.now)
        metrics.receive(.recorded(matched: 1), now: harness.now)
        #expect(stuck(harness, metrics, after: 61) == ["the statement for record has had no answer for 61 s"])
        metrics.receive(.recorded(matched: 1), now: harness.now)
        #expect(stuck(harness, metrics, after: 61) == [])
    }

    @Test("Results that the database refuses are stuck once their leases are over, and only while it is up")
    func refusedResults() {
        var (harness, metrics) = running(messages: 1)
        func hear(_ event: SenderEvent) {
            metrics.receive(event, now: harness.now)
            harness.hear(event)
            for action in harness.take() { metrics.perform(action, now: harness.now) }
        }
        hear(.transferFinished(slot: 0, MachineHarness.answered(.sent, status: 200)))
        hear(.statementFailed(.record, Failure(.configuration, "permission denied", remedy: "grant")))
        #expect(stuck(harness, metrics, after: 90) == [])
        #expect(
            stuck(harness, metrics, after: 91)
                == ["1 results are not recorded, since the database has refused them for 91 s"])
        hear(.databaseLost(Failure(.unavailable, "gone", remedy: "")))
        #expect(stuck(harness, metrics, after: 91) == [])
    }

    @Test("Results that are set aside are not stuck: starting again would only lose them")
    func resultsSetAside() {
        var (harness, metrics) = running()
        let refusal = SenderEvent.statementFailed(.record, Failure(.software, "a trigger", remedy: "look"))
        func hear(_ events: SenderEvent...) {
            for event in events { metrics.receive(event, now: harness.now) }
            for event in events { harness.machine.receive(event, now: harness.now) }
            harness.pass(1.1)
            for action in harness.take() {
                if case .record = action { metrics.perform(action, now: harness.now) }
            }
        }
        hear(.transferFinished(slot: 0, MachineHarness.answered(.sent, status: 200)))
        hear(refusal)
        hear(refusal, .transferFinished(slot: 1, MachineHarness.answered(.sent, status: 200)))
        hear(.recorded(matched: 1), refusal)
        #expect(harness.machine.results.asideCount == 1)
        metrics.receive(refusal, now: harness.now)
        #expect(stuck(harness, metrics, after: 200) == [])
    }

    @Test("Not ready without a database, without a token, behind open breakers of all apps, and while stopping")
    func readiness() {
        var harness = MachineHarness(apps: ["recipes", "news"]) { $0.drains = false }
        func reasons() -> [String] { SenderHealth.notReady(harness.machine.snapshot(now: harness.now)) }
        #expect(reasons() == ["no database connection", "no access token for recipes, news"])
        harness.hear(.databaseReady)
        #expect(reasons() == ["no access token for recipes, news"])
        harness.hear(.tokenReady(credential: 0, lifetime: 10 * second))
        #expect(reasons() == [])
        harness.machine.openBreaker(
            app: 0, Failure(.configuration, "FCM refuses us", remedy: "look"), now: harness.now)
        #expect(reasons() == [], "the other app goes on")
        harness.machine.openBreaker(app: 1, Failure(.unavailable, "no network", remedy: "wait"), now: harness.now)
        #expect(
            reasons() == ["breaker open for recipes: FCM refuses us; look", "breaker open for news: no network; wait"])
        harness.now += 11 * second
        #expect(reasons().first == "no access token for recipes, news")
        harness.hear(.stopRequested)
        #expect(reasons().first == "stopping")
    }
}
