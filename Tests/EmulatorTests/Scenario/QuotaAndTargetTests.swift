import Testing

@testable import Emulator

/// Quotas and dead targets, without a server.
@Suite struct QuotaAndTargetTests {
    @Test(arguments: [QuotaSettings.Shape.fcmError, .errorInfo])
    func aQuotaHasItsBurstAndThenItsRate(shape: QuotaSettings.Shape) {
        let settings = QuotaSettings(messagesPerMinute: 60, burst: 3, retryAfter: 30, shape: shape)
        var quota = Quota(settings, projects: 2, now: 0)
        let burst = (0..<4).map { _ in quota.take(project: 0, now: 0) }
        #expect(burst == [true, true, true, false])
        // The other project has a bucket of its own.
        let others = quota.take(project: 1, now: 0)
        let tooSoon = quota.take(project: 0, now: 900_000_000)
        let inTime = quota.take(project: 0, now: 1_000_000_000)
        #expect(others && !tooSoon && inTime)
        #expect(settings.refusal.head == AnswerHead(status: 429, retryAfter: 30))
        #expect(settings.refusal.code == (shape == .fcmError ? "QUOTA_EXCEEDED" : "RESOURCE_EXHAUSTED"))
    }

    @Test func targetsDieAtOnceOrAfterSomeMessages() {
        var targets = Targets([
            TargetRule(pattern: Pattern("dying-*"), fate: .unregistered, after: 2),
            TargetRule(pattern: Pattern("foreign-*"), fate: .otherSender),
            TargetRule(pattern: Pattern("apple-*"), fate: .apnsDead),
        ])
        func code(_ target: String, validateOnly: Bool = false) -> String? {
            targets.refusal(target, isValidateOnly: validateOnly)?.code
        }
        #expect(code("dying-1", validateOnly: true) == nil)
        #expect([code("dying-1"), code("dying-1"), code("dying-1")] == [nil, nil, "UNREGISTERED"])
        #expect(code("dying-1", validateOnly: true) == "UNREGISTERED")
        #expect(code("dying-2") == nil)
        #expect(code("foreign-1") == "SENDER_ID_MISMATCH")
        #expect(code("apple-1", validateOnly: true) == nil)
        #expect(code("apple-1") == "UNREGISTERED")
        #expect(code("unregistered-1") == "UNREGISTERED")
        #expect(code("alive") == nil)
    }

    @Test func aTokenIsRevokedAfterItsUses() {
        var tokens = AccessTokens()
        let header = [UInt8]("Bearer \(tokens.issue(lifetime: 100, uses: 2, now: 0))".utf8)
        let states = (0..<3).map { _ in tokens.state(ofHeader: header, now: 0) }
        #expect(states == [.valid, .valid, .unknown])
    }
}
