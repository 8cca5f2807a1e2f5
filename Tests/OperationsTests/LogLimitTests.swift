import Testing

@testable import Operations

@Suite("Limit on repeated log lines") struct LogLimitTests {
    private let second: Int64 = 1_000_000_000

    private func line(_ message: String = "breaker open", app: String = "recipes", why: String = "x") -> LogLimit.Line {
        LogLimit.Line(.error, message, [("app", app), ("why", why)])
    }

    @Test(
        "Five lines of an event pass in ten seconds; then one says how many were left out, with the last one's fields")
    func suppresses() {
        var limit = LogLimit()
        let passed = (0..<100).filter { limit.admit(line(why: "\($0)"), now: Int64($0)) }
        #expect(passed == [0, 1, 2, 3, 4])
        #expect(limit.deadline == 10 * second)
        let early = limit.ended(now: 10 * second - 1)
        #expect(early == [])
        let ended = limit.ended(now: 10 * second)
        #expect(
            ended == [
                LogLimit.Line(
                    .error, "breaker open", [("app", "recipes"), ("why", "99"), ("suppressed", "95")])
            ])
        #expect(limit.deadline == nil)
        #expect(limit.suppressedTotal == 95)
        // The next window begins with the next line.
        let passesAgain = limit.admit(line(), now: 11 * second)
        #expect(passesAgain)
        #expect(limit.deadline == 21 * second)
    }

    @Test("Another app, message or level is another event; another reason is not")
    func events() {
        var limit = LogLimit(lines: 1)
        let lines = [
            line(), line(app: "news"), line("no database"),
            LogLimit.Line(.warning, "breaker open", [("app", "recipes")]),
            line(why: "y"),
        ]
        #expect(lines.map { limit.admit($0, now: 0) } == [true, true, true, true, false])
    }

    @Test("A window without suppressed lines ends without a word")
    func quiet() {
        var limit = LogLimit()
        let passes = limit.admit(line(), now: 0)
        #expect(passes)
        let ended = limit.ended(now: 60 * second)
        #expect(ended == [])
        #expect(limit.deadline == nil)
    }

    @Test("The end of the program says at once what was left out, the oldest event first")
    func endAll() {
        var limit = LogLimit(lines: 1)
        for app in ["a", "b"] {
            for index in 0..<3 { _ = limit.admit(line(app: app), now: app == "b" ? Int64(index) : Int64(index) + 1) }
        }
        let last = limit.endAll()
        #expect(last.map { $0.fields.first?.value } == ["b", "a"])
        #expect(last.allSatisfy { $0.fields.last?.key == "suppressed" && $0.fields.last?.value == "2" })
        let nothing = limit.endAll()
        #expect(nothing == [])
    }

    @Test("However many events there are, memory is bounded: those beyond share one window")
    func bounded() {
        var limit = LogLimit(lines: 2)
        let passed = (0..<1_000).count { limit.admit(line(app: "app-\($0)"), now: 0) }
        #expect(passed == LogLimit.maximumEvents + 2)
        let ended = limit.ended(now: 10 * second)
        #expect(ended.map { $0.fields.last?.value } == ["\(1_000 - LogLimit.maximumEvents - 2)"])
    }
}
