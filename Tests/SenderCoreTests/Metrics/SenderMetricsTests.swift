import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

@Suite("Sender's metrics") struct SenderMetricsTests {
    private static let day = MachineHarness.day
    private let millisecond: Int64 = 1_000_000

    private func metrics(apps: [String] = ["recipes", "news"], slots: Int = 4) -> SenderMetrics {
        var settings = MachineSettings(apps: apps)
        settings.slots = slots
        var metrics = SenderMetrics(settings: settings, now: 1)
        metrics.receive(MachineHarness.work(apps), now: 1)
        return metrics
    }

    private func key(_ id: Int, app: Int = 1) -> MessageKey {
        MessageKey(id: id, day: Self.day, claimNumber: 1, app: app)
    }

    private func message(_ id: Int, app: Int = 1) -> ClaimedMessage {
        ClaimedMessage(
            key: key(id, app: app), app: app, attempts: 0, expiresInMilliseconds: nil, isAtMostOnce: false,
            ttlDigits: nil, payload: [])
    }

    private func post(_ id: Int, slot: Int, app: Int = 1) -> SenderAction {
        .post(
            PostOrder(
                slot: slot, projectID: "demo", credential: 0, message: message(id, app: app), secondsLeft: nil))
    }

    private func record(_ results: MessageResult...) throws -> Record {
        try #require(Record.batches(of: results).first)
    }

    private func failed(_ id: Int, _ code: String, app: Int = 1) -> MessageResult {
        MessageResult(key: key(id, app: app), next: .failed, httpStatus: 404, errorCode: code)
    }

    @Test("A post counts when it begins, its answer by status, and its latency from one to the other")
    func posts() {
        var metrics = metrics()
        metrics.perform(post(1, slot: 0), now: 10 * millisecond)
        metrics.perform(post(2, slot: 3, app: 2), now: 10 * millisecond)
        metrics.receive(
            .transferFinished(slot: 0, MachineHarness.answered(.sent, status: 200)), now: 50 * millisecond)
        metrics.receive(
            .transferFinished(slot: 3, MachineHarness.answered(.retry, status: 503)), now: 11 * millisecond)
        // Not under way any more: whatever it is, it is not counted twice.
        metrics.receive(
            .transferFinished(slot: 3, MachineHarness.answered(.retry, status: 503)), now: 11 * millisecond)
        metrics.perform(post(3, slot: 3, app: 2), now: 20 * millisecond)
        metrics.receive(
            .transferFinished(slot: 3, TransferOutcome(.unknown(reason: "reset"), issues: 1)), now: 30 * millisecond)

        let (recipes, news) = (metrics.apps[0], metrics.apps[1])
        #expect(recipes.posted == 1)
        #expect(recipes.answers[200] == 1)
        #expect(recipes.latency.count == 1)
        #expect(recipes.latency.sum == 40_000_000)
        #expect(news.posted == 2)
        #expect(news.answers[503] == 1)
        #expect(news.unknown == 1)
        #expect(news.latency.count == 1, "without an answer there is no latency")
        #expect(metrics.posts.allSatisfy { $0.began == 0 })
        let last = metrics.fields(lostResults: 0, duplicateRisk: 0).prefix(3).map(\.value)
        #expect(last == ["1", "1", "1"])
    }

    @Test("Results count by app when the database has confirmed them, not before")
    func results() {
        var metrics = metrics()
        // Several statements: how results are grouped is not the metrics' business.
        let records = Record.batches(of: [
            MessageResult(key: key(1), next: .sent, httpStatus: 200), failed(2, "UNREGISTERED"),
            failed(3, "UNREGISTERED", app: 2), MessageResult(key: key(4), next: .expired),
            MessageResult(
                key: key(5), next: .pending(delayMilliseconds: 1, isAttemptSpent: true), errorCode: "UNAVAILABLE"),
            MessageResult(key: key(6), next: .pending(delayMilliseconds: nil, isAttemptSpent: false)),
        ])
        for record in records { metrics.perform(.record(record), now: 0) }
        #expect(metrics.apps[0].sent == 0)
        for record in records {
            metrics.receive(.recorded(matched: record.results.count), now: 3 * millisecond)
        }

        let (recipes, news) = (metrics.apps[0], metrics.apps[1])
        #expect(recipes.sent == 1)
        #expect(recipes.failed.values == ["UNREGISTERED": 1])
        #expect(recipes.expired == 1)
        #expect(recipes.retried.values == ["UNAVAILABLE": 1])
        #expect(recipes.returned == 1)
        #expect(news.failed.values == ["UNREGISTERED": 1])
        #expect(metrics.recordLatency.count == records.count)
        #expect(metrics.recordLatency.sum == Double(3_000_000 * records.count))
    }

    @Test("A batch that is sent again after a lost connection counts once, also when it was in the database already")
    func resent() throws {
        var metrics = metrics()
        let batch = try record(failed(1, "A"), failed(2, "A"))
        metrics.perform(.record(batch), now: 0)
        metrics.receive(.databaseLost(Failure(.unavailable, "gone", remedy: "")), now: 1)
        metrics.receive(.databaseReady, now: 2)
        metrics.perform(.record(batch), now: 3)
        metrics.receive(.recorded(matched: 0), now: 4)
        #expect(metrics.apps[0].failed.total == 0)
        metrics.perform(.verify(batch), now: 5)
        metrics.receive(.verified(matched: 2), now: 6)
        #expect(metrics.apps[0].failed.total == 2)
        #expect(metrics.databaseConnects == 1)
        #expect(metrics.databaseLosses == 1)
    }

    @Test("Results that were refused are not counted as recorded")
    func refused() throws {
        var metrics = metrics()
        let batch = try record(failed(1, "A"), failed(2, "A"), failed(3, "A"))
        metrics.perform(.record(batch), now: 0)
        metrics.receive(.recorded(matched: 1), now: 1)
        metrics.perform(.verify(batch), now: 2)
        metrics.receive(.verified(matched: 1), now: 3)
        #expect(metrics.apps[0].failed.total == 1)
    }

    @Test("A claim counts its rows, its time, and what it ended")
    func claims() {
        var metrics = metrics()
        let claim = Claim(app: 2, priority: 5, day: Self.day, limit: 20)
        metrics.perform(.claim(claim), now: 0)
        #expect(metrics.oldestStatement?.kind == .claim)
        metrics.receive(
            .claimed(
                claim, Claim.Answer(messages: [message(1, app: 2)], taken: 6, expired: 2, cancelled: 3), askedAt: 0),
            now: 4 * millisecond)
        #expect(metrics.oldestStatement == nil)
        #expect(metrics.apps[1].claimed == 1)
        #expect(metrics.apps[1].expired == 2)
        #expect(metrics.apps[1].cancelled == 3)
        #expect(metrics.claimRows.sum == 6)
        #expect(metrics.claimLatency.sum == 4_000_000)
    }

    @Test("The oldest due message of each app is what the database said last")
    func age() {
        var metrics = metrics(apps: ["recipes"])
        func work(_ milliseconds: Int?) -> SenderEvent {
            var app = Work.App(
                id: 1, name: "recipes", projectID: "demo", isPaused: false, messagesPerSecond: 1, liveSenders: 1)
            app.oldestDueMilliseconds = milliseconds
            return .work(apps: [app], due: [], nextInMilliseconds: nil)
        }
        metrics.receive(work(2_500), now: 1)
        #expect(metrics.apps[0].oldestDueSeconds == 2.5)
        metrics.receive(work(nil), now: 2)
        #expect(metrics.apps[0].oldestDueSeconds == nil)
    }

    @Test("Tokens, wake-ups, rescue, housekeeping and statements are counted")
    func others() {
        var metrics = metrics()
        let failure = Failure(.configuration, "no", remedy: "")
        metrics.receive(.tokenFailed(credential: 0, failure), now: 1)
        metrics.receive(.tokenReady(credential: 0, lifetime: 1), now: 1)
        metrics.receive(.tokenFailed(credential: 99, failure), now: 1)
        metrics.receive(.woken(app: nil), now: 1)
        metrics.receive(.rescued(count: 3), now: 1)
        metrics.receive(.houseKept(expired: 4), now: 1)
        metrics.perform(.askWork, now: 1)
        metrics.receive(.statementFailed(.work, failure), now: 2)
        #expect(metrics.tokenFailures == [1])
        #expect(metrics.tokenRefreshes == [1])
        #expect(metrics.wakeUps == 1)
        #expect(metrics.rescued == 3)
        #expect(metrics.expiredByHousekeeping == 4)
        #expect(metrics.statements.sent[.work] == 1)
        #expect(metrics.statements.failed[.work] == 1)
        #expect(metrics.oldestStatement == nil)
    }

    @Test("A machine's whole drain: what the metrics say is what the machine did")
    func drain() {
        var harness = MachineHarness()
        var metrics = SenderMetrics(settings: harness.machine.settings, now: harness.now)
        func hear(_ events: SenderEvent...) -> [SenderAction] {
            for event in events { metrics.receive(event, now: harness.now) }
            for event in events { harness.hear(event) }
            let actions = harness.take()
            for action in actions { metrics.perform(action, now: harness.now) }
            return actions
        }
        var open = hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        open += hear(MachineHarness.work(due: [Work.Due(app: 1, priority: 5, day: Self.day)]))
        var (posted, isClaimed) = (0, false)
        while !open.isEmpty {
            switch open.removeFirst() {
            case .claim(let claim):
                // Asked again, the queue is empty.
                let messages = isClaimed ? [] : (1...10).map { message($0) }
                isClaimed = true
                let answer = Claim.Answer(messages: messages, taken: messages.count)
                open += hear(.claimed(claim, answer, askedAt: harness.now))
            case .post(let order):
                posted += 1
                let outcome =
                    order.message.key.id % 5 == 0
                    ? MachineHarness.answered(.permanent, status: 400, code: "INVALID_ARGUMENT")
                    : MachineHarness.answered(.sent, status: 200)
                open += hear(.transferFinished(slot: order.slot, outcome))
            case .record(let record): open += hear(.recorded(matched: record.results.count))
            default: break
            }
        }
        #expect(posted == 10)
        #expect(metrics.apps[0].posted == 10)
        #expect(metrics.apps[0].claimed == 10)
        #expect(metrics.apps[0].sent == 8)
        #expect(metrics.apps[0].failed.values == ["INVALID_ARGUMENT": 2])
    }
}
