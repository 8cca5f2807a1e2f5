import Testing

@testable import Emulator

/// What a scenario file may say, and what is said about one that is wrong.
@Suite struct ScenarioReadingTests {
    @Test(arguments: [
        (#"{"rules": [{"effect": {"error": "UNAVAILABLE"}}], "rulez": []}"#, "rulez", "is not a key here"),
        (#"{"seed": -1}"#, "seed", "whole number"),
        (#"{"seed": "7"}"#, "seed", "found \"7\""),
        (#"{"seed": 1, "seed": 2}"#, "", "line 1, column 13"),
        ("[]", "", "must be an object"),
        (#"{"rules": {}}"#, "rules", "must be an array"),
        (#"{"rules": [{"match": {}}]}"#, "rules[0]", "has no \"effect\""),
        (#"{"rules": [{"effect": {}}]}"#, "rules[0].effect", "names no effect"),
        (#"{"rules": [{"effect": {"error": "INTERNAL", "stall": true}}]}"#, "rules[0].effect", "names 2 effects"),
        (#"{"rules": [{"effect": {"error": "INTERNAL", "retry": 1}}]}"#, "rules[0].effect.retry", "is not a key here"),
        (#"{"rules": [{"effect": {"error": "BROKEN"}}]}"#, "rules[0].effect.error", "no error that is known"),
        (#"{"rules": [{"effect": {"error": "invalid_grant"}}]}"#, "rules[0].effect.error", "only the token endpoint"),
        (#"{"rules": [{"effect": {"status": 99}}]}"#, "rules[0].effect.status", "from 200 to 599"),
        (
            #"{"rules": [{"effect": {"status": 200, "headers": {"content-length": "1"}}}]}"#,
            "rules[0].effect.headers.content-length", "no header that may be set"
        ),
        (
            #"{"rules": [{"effect": {"status": 200, "headers": {"x": "a\nb"}}}]}"#, "rules[0].effect.headers.x",
            "characters"
        ),
        (#"{"rules": [{"effect": {"stall": false}}]}"#, "rules[0].effect.stall", "must be true"),
        (#"{"rules": [{"effect": {"latency": {}}}]}"#, "rules[0].effect.latency", "exactly one key"),
        (
            #"{"rules": [{"effect": {"latency": {"uniform": [9, 1]}}}]}"#, "rules[0].effect.latency.uniform",
            "ends before"
        ),
        (
            #"{"rules": [{"effect": {"latency": {"long_tail": {"median": 9, "p99": 1}}}}]}"#,
            "rules[0].effect.latency.long_tail", "below its median"
        ),
        (#"{"rules": [{"effect": {"reset": "stream", "by": "fin"}}]}"#, "rules[0].effect.by", "connections"),
        (#"{"rules": [{"effect": {"reset": "socket"}}]}"#, "rules[0].effect.reset", "\"stream\", \"connection\""),
        (#"{"rules": [{"effect": {"goaway": {"last_stream": 1}}}]}"#, "rules[0].effect.goaway.last_stream", "one of"),
        (#"{"rules": [{"effect": {"settings": {}}}]}"#, "rules[0].effect.settings", "max_streams"),
        (
            #"{"rules": [{"match": {"probability": 1.5}, "effect": {"stall": true}}]}"#, "rules[0].match.probability",
            "0 to 1"
        ),
        (
            #"{"rules": [{"match": {"between": [5]}, "effect": {"stall": true}}]}"#, "rules[0].match.between",
            "two numbers"
        ),
        (
            #"{"rules": [{"match": {"endpoint": "token", "target": "a"}, "effect": {"stall": true}}]}"#,
            "rules[0].match.target", "has none"
        ),
        (
            #"{"rules": [{"name": "a", "effect": {"stall": true}}, {"name": "a", "effect": {"stall": true}}]}"#,
            "rules[1].name", "earlier rule"
        ),
        (#"{"quota": {}}"#, "quota", "messages_per_minute"),
        (#"{"targets": [{"pattern": "a"}]}"#, "targets[0]", "needs"),
        (#"{"targets": [{"pattern": "", "is": "unregistered"}]}"#, "targets[0].pattern", "empty"),
        (#"{"server": {"http": "3"}}"#, "server.http", "\"1.1\", \"2\", \"both\""),
        (#"{"token": {"error": "UNAVAILABLE", "latency": -1}}"#, "token.latency", "from 0"),
    ])
    func anErrorNamesThePlaceAndTheRemedy(json: String, path: String, problem: String) throws {
        let error = #expect(throws: ScenarioError.self) { try ScenarioFile([UInt8](json.utf8)) }
        #expect(error?.path == path)
        #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
        #expect(error?.remedy.isEmpty == false)
    }

    @Test(arguments: NamedError.names)
    func everyNamedErrorIsAnAnswer(name: String) throws {
        let answer = try #require(NamedError.answer(name, retryAfter: 7))
        #expect(answer.head.retryAfter == 7 && !answer.body.isEmpty)
        let endpoint = NamedError.isOfTokenEndpoint(name) ? "token" : "send"
        let json = #"{"rules": [{"match": {"endpoint": "\#(endpoint)"}, "effect": {"error": "\#(name)"}}]}"#
        #expect(try ScenarioFile([UInt8](json.utf8)).scenario.rules.first?.effect.name == name)
    }

    @Test func aPartIsReplacedAlone() throws {
        let file = try ScenarioFile([UInt8](#"{"seed": 3, "quota": {"messages_per_minute": 60}}"#.utf8))
        let more = try file.replacing(.targets, [UInt8](#"[{"pattern": "d*", "is": "apns_dead"}]"#.utf8))
        #expect(more.scenario.seed == 3 && more.scenario.quota?.burst == 60)
        #expect(more.scenario.targets == [TargetRule(pattern: Pattern("d*"), fate: .apnsDead)])
        #expect(try more.replacing(.quota, [UInt8]("null".utf8)).scenario.quota == nil)
        #expect(try ScenarioFile(more.json).scenario.targets == more.scenario.targets)
        #expect(throws: ScenarioError.self) { try file.replacing(.rules, [UInt8]("{}".utf8)) }
    }

    @Test(arguments: [
        ("a*", "abc", true), ("a*", "ba", false), ("*", "", true), ("*c", "abc", true), ("a*c", "ac", true),
        ("a*b*c", "aXbYc", true), ("a*b*c", "acb", false), ("abc", "abc", true), ("abc", "abcd", false),
        ("a*a", "a", false), ("*b*b*", "abcb", true), ("*b*b*", "abc", false), ("a**c", "abc", true),
    ])
    func aStarStandsForAnything(pattern: String, text: String, fits: Bool) {
        #expect(Pattern(pattern).matches(text.utf8) == fits)
    }
}
