import Foundation
import Postgres
import Testing

extension EndToEnd {
    /// A provider that refuses, breaks and dawdles for a long time.
    @Suite("Storms")
    struct StormTests {
        /// What goes away together with a request.
        enum Cut: CaseIterable, CustomTestStringConvertible {
            /// Nothing: every answer of the emulator reaches the sender, so that it can be held to each of them.
            case stream
            /// A connection, cut or left by GOAWAY, with answers that were on their way: a 429 among them is one that the
            /// sender never saw.
            case connection
            var testDescription: String { self == .stream ? "resets of streams" : "resets of connections, and GOAWAY" }
        }

        /// 800 messages, the last of them without 429; 5,000, which takes ten minutes, with TODOKE_TEST_SCALE=full.
        ///
        /// After a 429 the app is still for two seconds, so that about as many messages go out between two holds as
        /// there are streams.
        @Test(
            "429, 503, resets and slow answers: everything is sent, Retry-After is kept, nothing storms",
            arguments: Cut.allCases)
        func storm(cut: Cut) throws {
            let count = messages(quick: 800, full: 5_000)
            let pipeline = try Pipeline(scenario: Self.scenario(cut))
            try pipeline.queue(count, "storm")
            let sender = try pipeline.sender(["--drain", "--retry-base", isFullSize ? "10" : "1"])
            let ended = try sender.end(within: isFullSize ? 1_500 : patience)
            #expect(ended.exitCode == 0, "\(ended.story)")
            #expect(try pipeline.states() == ["sent": count])

            let control = pipeline.emulatorAPI
            for rule in ["quota", "busy", "cut before", "cut after", "slow"] + (cut == .stream ? [] : ["leave"]) {
                #expect(try control.hits(of: rule) > 0, "the emulator did nothing of \(rule), so this shows nothing")
            }
            if cut == .stream {
                let violations = try control.violations()
                #expect(try control.number("violations.sending_during_hold") == 0, "\(violations)")
                // Sooner than FCM asks for at least in the quick run.
                #expect(try !isFullSize || control.number("violations.early_retry") == 0, "\(violations)")
            }
            #expect(try control.number("violations.connection_per_message") == 0)

            // Each repetition has its reason: a refusal, or a cut and what else was on the connection.
            let refusals = try control.hits(of: "quota") + control.hits(of: "busy")
            #expect(try pipeline.number("SELECT sum(attempts) FROM todoke.messages") <= refusals)
            let requests = try control.number("accepted") + control.number("refused") + control.number("faulted")
            let risk = try pipeline.duplicateRisk()
            let cutBefore = try control.hits(of: "cut before")
            #expect(requests <= count + refusals + cutBefore + risk)
            // At worst one in a hundred cuts a connection with a hundred streams on it.
            #expect(
                requests <= (cut == .stream ? count * 5 / 4 : 2 * count), "\(requests) requests for \(count) messages")
            #expect(try pipeline.number("SELECT max(attempts) FROM todoke.messages") <= 8)

            #expect(try pipeline.arrivalsByToken().count == count)
            #expect(try pipeline.extraArrivals() <= risk)
        }

        private static func scenario(_ cut: Cut) -> String {
            let most = isFullSize ? 1_000_000 : cut == .stream ? 25 : 5
            let reset = cut == .stream ? "stream" : "connection"
            let leave =
                #"{"name": "leave", "match": {"probability": 0.01}, "effect": {"goaway": {"last_stream": "this"}}}"#
            return """
                {"seed": 11, "rules": [
                    {"name": "quota", "match": {"probability": 0.05}, "limit": \(most),
                        "effect": {"error": "QUOTA_EXCEEDED", "retry_after": 2}},
                    {"name": "busy", "match": {"probability": 0.02}, "effect": {"error": "UNAVAILABLE"}},
                    {"name": "slow", "match": {"probability": 0.01}, "effect": {"latency": {"uniform": [500, 1500]}}},
                    {"name": "cut before", "match": {"probability": 0.005}, "effect": {"reset": "\(reset)"}},
                    {"name": "cut after", "match": {"probability": 0.005},
                        "effect": {"reset": "\(reset)", "when": "after_accept"}}
                    \(cut == .stream ? "" : "," + leave)
                ]}
                """
        }
    }
}
