import Foundation
import Testing

/// The same seed and the same requests over several connections have the same outcome.
@Suite struct ReplayTests {
    private static let scenario = #"""
        {"seed": 42, "targets": [{"pattern": "*9", "is": "unregistered", "after": 1}],
         "rules": [
          {"name": "slow", "match": {"probability": 0.2}, "effect": {"latency": {"long_tail": {"median": 1, "p99": 5}}}},
          {"name": "drip", "match": {"probability": 0.1}, "effect": {"drip": {"bytes": 50, "every": 1}}},
          {"name": "fewer", "match": {"probability": 0.1}, "effect": {"settings": {"max_streams": 50, "for": 5}}},
          {"name": "named", "match": {"probability": 0.1}, "effect": {"error": "UNAVAILABLE", "retry_after": 1}},
          {"name": "made", "match": {"probability": 0.1}, "effect": {"status": 502, "body": "x"}},
          {"name": "stall", "match": {"probability": 0.02}, "effect": {"stall": true}},
          {"name": "stream", "match": {"probability": 0.05}, "effect": {"reset": "stream"}},
          {"name": "late", "match": {"probability": 0.05}, "effect": {"reset": "stream", "when": "after_accept"}},
          {"name": "fin", "match": {"probability": 0.05}, "effect": {"reset": "connection", "by": "fin"}},
          {"name": "rst", "match": {"probability": 0.05},
           "effect": {"reset": "connection", "by": "rst", "when": "after_accept"}},
          {"name": "silent", "match": {"probability": 0.02}, "effect": {"reset": "connection", "by": "silent"}},
          {"name": "goaway", "match": {"probability": 0.05}, "effect": {"goaway": {"last_stream": "this"}}},
          {"name": "unprocessed", "match": {"probability": 0.05}, "effect": {"goaway": {"last_stream": "zero"}}},
          {"name": "refused", "match": {"probability": 0.05}, "effect": {"refuse_stream": true}},
          {"name": "counted", "match": {"every": 11}, "effect": {"error": "INTERNAL"}}
         ]}
        """#

    @Test(.timeLimit(.minutes(2))) func everyEffectTwiceGivesTheSameCounts() throws {
        let first = try run(Self.scenario, messages: 300, clients: 4)
        #expect(try run(Self.scenario, messages: 300, clients: 4) == first)
        let kinds = Set(first.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) })
        #expect(kinds.isSuperset(of: ["200", "404", "500", "502", "503", "000"]), "\(first)")
    }

    /// A quota hits whoever comes last, so that only one client after another meets it in the same order.
    @Test(.timeLimit(.minutes(2))) func aQuotaTwiceGivesTheSameCounts() throws {
        let scenario = Self.scenario.replacing(
            "{\"seed\"", with: "{\"quota\": {\"messages_per_minute\": 1, \"burst\": 80}, \"seed\"")
        let first = try run(scenario, messages: 100, clients: 1)
        #expect(try run(scenario, messages: 100, clients: 1) == first)
        #expect(first.contains("429 "), "\(first)")
    }

    /// The outcomes of messages over so many clients at once, sorted and counted, and what was accepted.
    private func run(_ scenario: String, messages: Int, clients: Int) throws -> String {
        let emulator = try EmulatorProcess(scenario: scenario)
        let authorization = try emulator.authorization()
        // A connection for each message, as otherwise it depends on chance what a reset takes along.
        let script = """
            seq \(messages) | xargs -P \(clients) -I N curl --silent --output /dev/null --write-out '%{http_code}\\n' --http2 \
            --noproxy '*' --cacert "$1" --max-time 1 --header "$2" --data '{"message":{"token":"device-N"}}' "$3" \
            | sort | uniq -c | awk '{print $2, $1}'
            """
        let outcome = try Command.run(
            "/bin/sh",
            [
                "-c", script, "sh", emulator.directory.appending(path: "ca.pem").path, authorization,
                emulator.sendURL,
            ])
        return outcome.output + "accepted \(try emulator.acceptedLines().count)"
    }
}
