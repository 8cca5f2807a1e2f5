import Testing

@testable import Emulator

/// Which requests rules hit, and that the same seed hits the same ones.
@Suite struct RuleEngineTests {
    private func engine(_ json: String) throws -> RuleEngine {
        RuleEngine(try ScenarioFile([UInt8](json.utf8)).scenario)
    }

    private func facts(
        _ target: String? = nil, project: String = "p", isValid: Bool = true, header: [String: String] = [:],
        at elapsed: Double = 0, endpoint: RequestFacts.Endpoint = .send
    ) -> RequestFacts {
        RequestFacts(
            endpoint: endpoint, target: target, project: [UInt8](project.utf8)[...], isValid: isValid,
            header: { header[$0].map { [UInt8]($0.utf8) } }, elapsed: elapsed)
    }

    private func hits(_ match: String, _ requests: [RequestFacts]) throws -> [Bool] {
        var engine = try engine(#"{"rules": [{"match": \#(match), "effect": {"stall": true}}]}"#)
        return requests.map { !engine.plan(for: $0).effects.isEmpty }
    }

    @Test func everyConditionHasToHold() throws {
        #expect(try hits(#"{"target": "vip-*"}"#, [facts("vip-1"), facts("x"), facts()]) == [true, false, false])
        #expect(try hits(#"{"project": "a*"}"#, [facts(project: "ab"), facts(project: "b")]) == [true, false])
        #expect(try hits(#"{"valid": true}"#, [facts(), facts(isValid: false)]) == [true, false])
        #expect(
            try hits(
                #"{"header": {"X-Test": "a*"}}"#,
                [facts(header: ["x-test": "abc"]), facts(header: ["x-test": "b"]), facts()]) == [true, false, false])
        #expect(
            try hits(#"{"between": [10, 20]}"#, [9.9, 10, 19.9, 20].map { facts(at: $0) })
                == [false, true, true, false])
        #expect(try hits(#"{"nth": 2}"#, Array(repeating: facts(), count: 4)) == [false, true, false, false])
        #expect(try hits(#"{"every": 2}"#, Array(repeating: facts(), count: 4)) == [false, true, false, true])
        #expect(
            try hits(#"{"target": "a", "every": 2}"#, [facts("a"), facts("b"), facts("b"), facts("a")])
                == [false, false, false, true])
        let both = [facts(endpoint: .send), facts(endpoint: .token)]
        #expect(try hits("{}", both) == [true, false])
        #expect(try hits(#"{"endpoint": "token"}"#, both) == [false, true])
        #expect(try hits(#"{"endpoint": "any"}"#, both) == [true, true])
        #expect(try hits(#"{"probability": 0}"#, [facts("a")]) == [false])
        #expect(try hits(#"{"probability": 1}"#, [facts("a")]) == [true])
    }

    @Test func whatDoesNotEndARequestComesOnTopOfWhatDoes() throws {
        var engine = try engine(
            """
            {"rules": [
              {"effect": {"latency": {"fixed": 40}}}, {"effect": {"latency": {"uniform": [10, 10]}}},
              {"effect": {"drip": {}}}, {"effect": {"goaway": {}}}, {"effect": {"settings": {"max_streams": 1}}},
              {"limit": 1, "effect": {"error": "INTERNAL"}}, {"effect": {"refuse_stream": true}}
            ]}
            """)
        let before = ["latency", "latency", "drip", "goaway", "settings"]
        let first = engine.plan(for: facts())
        #expect(first.effects.map(\.effect.name) == before + ["INTERNAL"])
        #expect(first.latency == 50_000_000)
        let second = engine.plan(for: facts())
        #expect(second.effects.map(\.effect.name) == before + ["refuse_stream"])
        #expect(engine.hits == [2, 2, 2, 2, 2, 1, 1])
    }

    @Test func drawsDoNotDependOnTheOrderOfArrival() throws {
        let json = #"""
            {"seed": 11, "rules": [
              {"match": {"probability": 0.2}, "effect": {"error": "UNAVAILABLE"}},
              {"match": {"probability": 0.3}, "effect": {"stall": true}},
              {"match": {"every": 7}, "effect": {"refuse_stream": true}}
            ]}
            """#
        let targets = (0..<3000).map { "device-\($0 % 1000)" }
        func run(_ order: [String], json: String) throws -> (hits: [Int], outcomes: [String: [String]]) {
            var engine = try engine(json)
            var outcomes: [String: [String]] = [:]
            for target in order {
                let name = engine.plan(for: facts(target)).effects.first?.effect.name ?? ""
                outcomes[target, default: []].append(name == "refuse_stream" ? "" : name)
            }
            return (engine.hits, outcomes)
        }
        let one = try run(targets, json: json)
        let two = try run(targets.sorted(), json: json)
        #expect(one.hits == two.hits)
        #expect(one.outcomes == two.outcomes)
        #expect((500...700).contains(one.hits[0]) && (620...820).contains(one.hits[1]), "\(one.hits)")
        #expect(try run(targets, json: json.replacing("11", with: "12")).hits != one.hits)
    }

    @Test func theLimitsOfARuleAndOfAllHold() throws {
        var engine = try engine(
            #"{"limit": 5, "rules": [{"limit": 2, "effect": {"stall": true}}, {"effect": {"refuse_stream": true}}]}"#)
        for _ in 0..<20 { _ = engine.plan(for: facts()) }
        #expect(engine.hits == [2, 3] && engine.total == 5)
    }

    @Test func aLongTailHasItsMedianAndItsPercentile() {
        let latency = Latency.longTail(median: 40_000_000, p99: 2_000_000_000)
        let draws = (0..<20_000).map { number -> Int64 in
            var chance = Chance(1, UInt64(number))
            return latency.nanoseconds(&chance)
        }.sorted()
        #expect(abs(Double(draws[10_000]) / 40_000_000 - 1) < 0.1)
        #expect(abs(Double(draws[19_800]) / 2_000_000_000 - 1) < 0.2)
        var chance = Chance(2)
        let uniform = (0..<1000).map { _ in Latency.uniform(5, 9).nanoseconds(&chance) }
        #expect(uniform.allSatisfy { (5...9).contains($0) })
    }

    @Test func countsAreRightAndTheirMemoryBounded() {
        var table = CountTable()
        let hashes = (0..<10_000).map { Chance.hash("target-\($0)".utf8) }
        let first = hashes.map { table.next($0) }
        let second = hashes.map { table.next($0) }
        #expect(first.allSatisfy { $0 == 0 } && second.allSatisfy { $0 == 1 })
        // Two million others push the early ones out, which then begin at 0 again.
        for number in 0..<2_000_000 { _ = table.next(Chance.hash("other-\(number)".utf8)) }
        let forgotten = hashes.count { table.current($0) == 0 }
        #expect(forgotten > 5000)
    }
}
