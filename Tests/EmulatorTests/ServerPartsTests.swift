import HTTP2
import Testing

@testable import Emulator

/// Counting faults, telling time, and keeping tokens.
@Suite struct ServerPartsTests {
    @Test func theFlagsAreRulesWithOneLimit() {
        var flags = FaultFlags()
        flags.refuseStream = 3
        flags.goAway = 2
        flags.limit = 3
        var engine = RuleEngine(flags.added(to: Scenario()))
        let effects = (1...8).map { _ in
            engine.plan(for: RequestFacts(endpoint: .send, elapsed: 0)).effects.map(\.effect.name)
        }
        // GOAWAY counts the requests that are not refused; the fourth fault is one too many.
        #expect(effects == [[], ["goaway"], ["refuse_stream"], [], ["goaway"], [], [], []])
        #expect(engine.total == 3)
    }

    @Test(arguments: [
        (784_111_777, 37_001, "Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.037001Z"),
        (951_782_400, 0, "Tue, 29 Feb 2000 00:00:00 GMT", "2000-02-29T00:00:00.000000Z"),
        (4_107_542_399, 999_999, "Sun, 28 Feb 2100 23:59:59 GMT", "2100-02-28T23:59:59.999999Z"),
        (0, 1, "Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00.000001Z"),
    ])
    func timesAreWrittenAsTheStandardsSay(seconds: Int64, microseconds: Int, http: String, timestamp: String) {
        let time = WallTime(seconds: seconds, microseconds: microseconds)
        #expect(time.httpDate == http)
        #expect(time.timestamp == timestamp)
    }

    @Test func aTokenIsGoodUntilItsEnd() {
        var tokens = AccessTokens()
        let first = [UInt8]("Bearer \(tokens.issue(lifetime: 10, now: 0))".utf8)
        let second = [UInt8]("bearer \(tokens.issue(lifetime: 20, now: 0))".utf8)
        for (now, state) in [(0, AccessTokens.State.valid), (9_999_999_999, .valid), (10_000_000_000, .expired)] {
            #expect(tokens.state(ofHeader: first, now: Int64(now)) == state)
            #expect(tokens.state(ofHeader: second, now: Int64(now)) == .valid)
        }
        #expect(tokens.state(ofHeader: [UInt8]("Bearer x".utf8), now: 0) == .unknown)
        #expect(tokens.state(ofHeader: [UInt8]("Basic x".utf8), now: 0) == nil)
        #expect(tokens.state(ofHeader: [], now: 0) == nil)
    }

    @Test func namesAreNeverRepeated() {
        var names = MessageName(project: "p", time: WallTime(seconds: 1_500_415_314, microseconds: 455_000))
        var seen: Set<[UInt8]> = []
        for _ in 0..<1000 {
            var name: [UInt8] = []
            names.writeAccepted(to: &name)
            #expect(name.starts(with: "{\n  \"name\": \"projects/p/messages/0:15004153144".utf8))
            seen.insert(name)
        }
        #expect(seen.count == 1000)
    }
}
