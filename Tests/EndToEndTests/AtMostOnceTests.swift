import Foundation
import Postgres
import Testing

extension EndToEnd {
    /// What was promised to go out once at most goes out once at most, whatever breaks.
    @Suite("At most once")
    struct AtMostOnceTests {
        /// Where the promise is written down.
        enum Level: String, CaseIterable, CustomTestStringConvertible {
            case app, notification
            var testDescription: String { rawValue }
            var statement: String {
                self == .app
                    ? "UPDATE todoke.apps SET delivery = 'at_most_once'"
                    : "UPDATE todoke.notifications SET delivery = 'at_most_once'"
            }
        }

        /// 3,000 messages: every kind of lost answer, and GOAWAY.
        @Test("Connections and streams cut, GOAWAY: nothing arrives twice", arguments: Level.allCases)
        func cut(level: Level) throws {
            let pipeline = try Pipeline(
                scenario: """
                    {"rules": [
                        {"match": {"every": 701}, "effect": {"reset": "connection", "when": "after_accept", "by": "rst"}},
                        {"match": {"every": 503}, "effect": {"reset": "connection", "when": "after_accept", "by": "fin"}},
                        {"match": {"every": 607}, "effect": {"reset": "connection", "when": "before_accept"}},
                        {"match": {"every": 101}, "effect": {"reset": "stream", "when": "after_accept"}},
                        {"match": {"every": 307}, "effect": {"refuse_stream": true}},
                        {"match": {"every": 401}, "effect": {"goaway": {"last_stream": "this"}}},
                        {"match": {"every": 809}, "effect": {"goaway": {"last_stream": "previous"}}}
                    ]}
                    """)
            try pipeline.queue(3_000, "once")
            try pipeline.database.query(level.statement)
            let sender = try pipeline.sender(["--drain", "--retry-base", "1"]).end()
            #expect(sender.exitCode == 0, "\(sender.story)")
            try expectOnce(pipeline, 3_000)
        }

        /// 10,000 messages, two kills.
        @Test("Senders killed: nothing arrives twice, what they held ends as unknown", arguments: Level.allCases)
        func killed(level: Level) throws {
            let count = 10_000
            let pipeline = try Pipeline()
            try pipeline.queue(count, "once")
            try pipeline.database.query(level.statement)
            let fleet = try Fleet(2, of: pipeline, ["--drain", "--lease", "5"])
            for kill in 0..<2 {
                try pipeline.emulatorAPI.wait("accepted=\(count * (kill + 1) / 4)")
                _ = try fleet.replace(kill)
                try pipeline.endLeases(of: fleet)
            }
            for ended in try fleet.end() { #expect(ended.exitCode == 0, "\(ended.story)") }
            try expectOnce(pipeline, count)
        }

        private func expectOnce(_ pipeline: Pipeline, _ count: Int) throws {
            let twice = try pipeline.arrivalsByToken().filter { $0.value > 1 }
            #expect(twice.isEmpty)
            let states = try pipeline.states()
            #expect(Set(states.keys) == ["sent", "failed"])
            #expect(states["sent", default: 0] + states["failed", default: 0] == count)
            #expect(
                try pipeline.number("SELECT count(*) FROM todoke.messages WHERE error_code = 'OUTCOME_UNKNOWN'")
                    == states["failed"])
            // Each of them has its story.
            #expect(
                try pipeline.number(
                    """
                    SELECT count(*) FROM todoke.messages m WHERE state = 'failed' AND NOT EXISTS (
                        SELECT FROM todoke.attempts t WHERE t.message_id = m.id AND t.outcome = 'unknown')
                    """) == 0)
        }
    }
}
