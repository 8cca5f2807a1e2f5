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
          {"name": "counted", "match": {"target": "*0", "every": 3}, "effect": {"error": "INTERNAL"}}
         ]}
        """#

    @Test(.timeLimit(.minutes(2))) func everyEffectTwiceGivesTheSameCounts() throws {
        let first = try run(Self.scenario, messages: 200, clients: 4)
        #expect(try run(Self.scenario, messages: 200, clients: 4) == first)
        for name in [
            "accepted", "errors.UNREGISTERED", "errors.UNAVAILABLE", "errors.INTERNAL", "faults.status", "faults.stall",
            "faults.reset_stream", "faults.reset_connection", "faults.goaway", "faults.refuse_stream",
        ] {
            #expect((first[name] ?? 0) > 0, "\(name) in \(first)")
        }
    }

    /// A quota hits whoever comes last, so that only one client after another meets it in the same order.
    @Test(.timeLimit(.minutes(2))) func aQuotaTwiceGivesTheSameCounts() throws {
        let scenario = Self.scenario.replacing(
            "{\"seed\"", with: "{\"quota\": {\"messages_per_minute\": 1, \"burst\": 60}, \"seed\"")
        let first = try run(scenario, messages: 90, clients: 1)
        #expect(try run(scenario, messages: 90, clients: 1) == first)
        #expect((first["errors.QUOTA_EXCEEDED"] ?? 0) > 0, "\(first)")
    }

    /// What the emulator counted of messages that came over so many clients at once.
    ///
    /// nghttp asks once for each, on a connection of its own: curl asks again by itself when it is refused, and whether
    /// it does depends on what else the machine does.
    private func run(_ scenario: String, messages: Int, clients: Int) throws -> [String: Int] {
        let emulator = try EmulatorProcess(scenario: scenario)
        let script = """
            seq \(messages) | xargs -P \(clients) -I N sh -c \
            'printf %s "{\\"message\\":{\\"token\\":\\"device-$((N % 120))\\"}}" | nghttp --no-verify-peer --timeout=3 --data=- \
            --header="$1" "$2" >/dev/null 2>&1' sh "$1" "$2"
            """
        _ = try Command.run("/bin/sh", ["-c", script, "sh", try emulator.authorization(), emulator.sendURL])
        let stats = try emulator.ask("/stats").json
        var counts: [String: Int] = [:]
        for name in ["accepted", "refused", "faulted"] { counts[name] = stats[name] as? Int }
        for group in ["errors", "faults"] {
            for (name, count) in stats[group] as? [String: Int] ?? [:] { counts["\(group).\(name)"] = count }
        }
        return counts
    }
}
