import Delivery
import Testing

@testable import Emulator

/// The inspector is told what happened and when, and counts.
@Suite struct InspectorTests {
    private static let second: Int64 = 1_000_000_000

    private static func record(
        _ outcome: RequestRecord.Outcome = .accepted, _ status: Int = 200, code: String = "", retryAfter: Int? = nil,
        at time: Int64 = 0, connection: Int = 1
    ) -> RequestRecord {
        RequestRecord(
            endpoint: .send, outcome: outcome, code: code, status: status, retryAfter: retryAfter,
            connectionID: connection, time: time)
    }

    private static func tell(
        _ inspector: Inspector, _ record: RequestRecord, to target: String = "target", message: String = "{}"
    ) {
        inspector.record(
            record, target: MessageTarget(kind: .token, value: target), message: [UInt8](message.utf8).span)
    }

    @Test(arguments: [(RequestRecord.Outcome.faulted, 0), (.accepted, 1)])
    func anErrorThatAScenarioMadeUpIsBothAnErrorAndAFault(_ outcome: RequestRecord.Outcome, _ accepted: Int) {
        let inspector = Inspector(now: 0, trackedTargets: 1000)
        Self.tell(inspector, Self.record(outcome, 503, code: "UNAVAILABLE"))
        Self.tell(inspector, Self.record(outcome, 0, code: "stall"))
        #expect(Gauge.named("errors.UNAVAILABLE")?.read(inspector, 0) == 1)
        #expect(Gauge.named("faults.UNAVAILABLE")?.read(inspector, 0) == 1)
        #expect(Gauge.named("errors.stall")?.read(inspector, 0) == 0)
        #expect(Gauge.named("faults.stall")?.read(inspector, 0) == 1)
        #expect(inspector.accepted == 2 * accepted)
    }

    @Test func outcomesAndCodesAreCounted() {
        let inspector = Inspector(now: 0, trackedTargets: 1000)
        Self.tell(inspector, Self.record())
        Self.tell(inspector, Self.record(.validated))
        Self.tell(inspector, Self.record(.refused, 404, code: "UNREGISTERED"), to: "gone")
        Self.tell(inspector, Self.record(.faulted, 0, code: "refuse_stream"))
        inspector.record(
            RequestRecord(endpoint: .token, outcome: .accepted, status: 200, connectionID: 1, isHTTP2: false, time: 0))
        #expect(inspector.accepted == 1 && inspector.validated == 1 && inspector.refused == 1 && inspector.faulted == 1)
        #expect(inspector.tokens == 1 && inspector.http1Requests == 1 && inspector.http2Requests == 4)
        #expect(Gauge.named("errors.UNREGISTERED")?.read(inspector, 0) == 1)
        #expect(Gauge.named("errors.OTHER")?.read(inspector, 0) == 0)
        #expect(Gauge.named("faults.refuse_stream")?.read(inspector, 0) == 1)
        #expect(Gauge.named("errors.") == nil && Gauge.named("nonsense") == nil)
        inspector.resetCounts(at: 5)
        #expect(Gauge.all(of: inspector).allSatisfy { $0.read(inspector, 5) == 0 })
    }

    @Test func targetsAndMessagesThatComeTwiceAreFound() {
        let inspector = Inspector(now: 0, trackedTargets: 1000)
        let day1 = #"{"data": {"notification_id": "day-1"}, "android": {"ttl": "60s"}}"#
        Self.tell(inspector, Self.record(), to: "a", message: day1)
        Self.tell(inspector, Self.record(), to: "b", message: day1)
        #expect(inspector.targets.distinct == 2 && inspector.targets.repeated == 0 && inspector.secondArrivals == 0)
        Self.tell(inspector, Self.record(), to: "a", message: #"{"data":{"notification_id":"day-2"}}"#)
        #expect(inspector.targets.repeated == 1 && inspector.secondArrivals == 0)
        Self.tell(inspector, Self.record(), to: "a", message: #"{"data": {"notification_id" : "day-1"}, "x": 59}"#)
        #expect(inspector.targets.repeated == 1 && inspector.secondArrivals == 1)
        Self.tell(inspector, Self.record(.refused, 404, code: "UNREGISTERED"), to: "b", message: day1)
        #expect(inspector.secondArrivals == 1)

        let untold = Inspector(now: 0, trackedTargets: 0)
        Self.tell(untold, Self.record())
        Self.tell(untold, Self.record())
        #expect(untold.targets.distinct == 0 && untold.secondArrivals == 0 && untold.accepted == 2)
    }

    @Test func ratesAreBySecond() {
        let inspector = Inspector(now: 0, trackedTargets: 0)
        for _ in 0..<5 { Self.tell(inspector, Self.record(at: 100)) }
        for _ in 0..<3 { Self.tell(inspector, Self.record(at: Self.second)) }
        #expect(inspector.lastSecond(at: Self.second + 1) == 5)
        #expect(inspector.lastSecond(at: 2 * Self.second) == 3)
        #expect(inspector.lastSecond(at: 3 * Self.second) == 0)
        #expect(inspector.rate.peak == 5 && inspector.lastMinute(at: 3 * Self.second) == 8)
        #expect(inspector.lastMinute(at: 60 * Self.second) == 3)
        #expect(inspector.lastMinute(at: 1_000_000 * Self.second) == 0)
    }

    @Test func connectionsAndTheirStreamsAreCounted() {
        let inspector = Inspector(now: 0, trackedTargets: 0)
        inspector.opened(connection: 1, at: 0)
        inspector.opened(connection: 2, at: 0)
        inspector.observed(connection: 1, isHTTP2: true, streams: 70)
        inspector.observed(connection: 2, isHTTP2: true, streams: 40)
        inspector.observed(connection: 1, isHTTP2: true, streams: 0)
        #expect(inspector.concurrency == 40 && inspector.concurrencyPeak == 110)
        #expect(inspector.streamsNow == 40 && inspector.streamsPeak == 70)
        inspector.ended(connection: 2, at: 9)
        inspector.ended(connection: 2, at: 9)
        #expect(inspector.concurrency == 0 && inspector.connections.count == 1 && inspector.connectionsPeak == 2)
        inspector.resetCounts(at: 10)
        #expect(inspector.connectionsTotal == 1 && inspector.concurrencyPeak == 0)
    }

    @Test func aTargetIsNeverShownWhole() {
        let token = String(repeating: "secret", count: 20)
        let target = MessageTarget(kind: .token, value: token)
        let text = RedactedTarget(target, Fingerprint(target)).text
        #expect(text.hasPrefix("secret…#") && text.utf8.count == 6 + 3 + 1 + 8)
        let short = MessageTarget(kind: .topic, value: "news")
        #expect(RedactedTarget(short, Fingerprint(short)).text == "news")
    }

    @Test func theLastMessagesAreKeptInOrder() {
        let inspector = Inspector(now: 0, trackedTargets: 0)
        #expect(inspector.messages.last(10) { _ in true }.isEmpty)
        for number in 0..<2500 { Self.tell(inspector, Self.record(at: Int64(number))) }
        #expect(inspector.messages.last(3) { _ in true }.map(\.record.time) == [2497, 2498, 2499])
        #expect(inspector.messages.last(2) { $0.record.time % 500 == 0 }.map(\.record.time) == [1500, 2000])
        #expect(inspector.messages.last(5000) { _ in true }.count == MessageRing.capacity)
    }
}
