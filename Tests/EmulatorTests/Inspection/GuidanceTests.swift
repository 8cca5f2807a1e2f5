import Delivery
import Testing

@testable import Emulator

/// What FCM asks of its clients, rule by rule; each is broken and kept.
@Suite struct GuidanceTests {
    private static let second: Int64 = 1_000_000_000
    private static let message = Fingerprint(value: 77)

    private static func record(
        _ status: Int, code: String = "", retryAfter: Int? = nil, at seconds: Double
    ) -> RequestRecord {
        RequestRecord(
            endpoint: .send, outcome: status == 200 ? .accepted : .refused, code: code, status: status,
            retryAfter: retryAfter, connectionID: 1, time: Int64(seconds * 1e9))
    }

    private static func violations(_ rule: GuidanceRule, _ records: [RequestRecord]) -> Int {
        var guidance = Guidance()
        for record in records { guidance.judge(record, message: message, target: nil) }
        #expect(guidance.examples(of: rule).count == min(Guidance.mostExamples, guidance.count(of: rule)))
        return guidance.count(of: rule)
    }

    @Test(arguments: [
        (503, nil, 9.9, 1), (503, nil, 10.0, 0), (503, 30, 29.0, 1), (503, 30, 30.0, 0), (500, 5, 9.0, 1),
    ])
    func aRetryWaits(_ status: Int, _ retryAfter: Int?, _ seconds: Double, _ count: Int) {
        let records = [
            Self.record(status, code: "UNAVAILABLE", retryAfter: retryAfter, at: 1),
            Self.record(200, at: 1 + seconds),
        ]
        #expect(Self.violations(.earlyRetry, records) == count)
    }

    @Test func aDelayedRefusalCountsFromItsAnswer() {
        var refused = Self.record(503, at: 0)
        refused.delay = 5 * Self.second
        #expect(Self.violations(.earlyRetry, [refused, Self.record(200, at: 14)]) == 1)
        #expect(Self.violations(.earlyRetry, [refused, Self.record(200, at: 15)]) == 0)
    }

    @Test func retryAfterHoldsTheProject() {
        let refused = Self.record(429, code: "QUOTA_EXCEEDED", retryAfter: 60, at: 0)
        #expect(Self.violations(.sendingDuringHold, [refused, Self.record(200, at: 0.5)]) == 0)
        #expect(Self.violations(.sendingDuringHold, [refused, Self.record(200, at: 2), Self.record(200, at: 59)]) == 2)
        #expect(Self.violations(.sendingDuringHold, [refused, Self.record(200, at: 60)]) == 0)
        #expect(Self.violations(.overQuota, [refused]) == 1)
    }

    @Test(arguments: [(400, 1), (403, 1), (404, 1), (401, 0)])
    func aFinalAnswerIsFinal(_ status: Int, _ count: Int) {
        #expect(
            Self.violations(.retryAfterFinal, [Self.record(status, at: 0), Self.record(status, at: 1000)]) == count)
    }

    @Test func aClientThatSendsMostlyErrorsIsNamedOnceAMinute() {
        func minute(_ errors: Int, of count: Int) -> Int {
            var guidance = Guidance()
            for number in 0..<count {
                guidance.judge(Self.record(number < errors ? 404 : 200, at: 61), message: nil, target: nil)
            }
            guidance.judge(Self.record(200, at: 130), message: nil, target: nil)
            return guidance.count(of: .clientErrors)
        }
        #expect(minute(5, of: 100) == 0)
        #expect(minute(6, of: 100) == 1)
        #expect(minute(50, of: 99) == 0)
    }

    @Test func connectionsThatCarryOneMessageAreCountedFromTheTenth() {
        var guidance = Guidance()
        for number in 0..<30 {
            let entry = ConnectionEntry(id: number, opened: 0)
            entry.messages = number == 15 ? 2 : 1
            guidance.judge(ended: entry, at: 0)
        }
        #expect(guidance.count(of: .connectionPerMessage) == 6 + 5)
    }

    @Test func rememberedRefusalsAreBounded() {
        var guidance = Guidance()
        for number in 0..<UInt64(Guidance.mostRefusals + 1000) {
            guidance.judge(Self.record(404, at: 0), message: Fingerprint(value: number), target: nil)
        }
        guidance.judge(Self.record(404, at: 1), message: Fingerprint(value: 10), target: nil)
        #expect(guidance.count(of: .retryAfterFinal) == 0)
        guidance.judge(Self.record(404, at: 1), message: Fingerprint(value: 5000), target: nil)
        #expect(guidance.count(of: .retryAfterFinal) == 1)
    }
}
