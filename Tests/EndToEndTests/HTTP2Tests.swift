import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// What a server and the network may do to HTTP/2 connections: nothing is lost, no attempt is spent.
    @Suite("HTTP/2 connections")
    struct HTTP2Tests {
        struct Fault: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let scenario: String
            /// The server processed nothing that it did not answer, and libcurl can tell.
            var isProven = false
        }

        static let faults = [
            Fault(
                testDescription: "GOAWAY after the request",
                scenario: #"{"rules": [{"match": {"every": 500}, "effect": {"goaway": {"last_stream": "this"}}}]}"#),
            Fault(
                testDescription: "GOAWAY before the request",
                scenario: #"{"rules": [{"match": {"every": 500}, "effect": {"goaway": {"last_stream": "previous"}}}]}"#
            ),
            Fault(
                testDescription: "REFUSED_STREAM",
                scenario: #"{"rules": [{"match": {"every": 100}, "effect": {"refuse_stream": true}}]}"#, isProven: true),
            Fault(
                testDescription: "reset streams",
                scenario: """
                    {"rules": [
                        {"match": {"every": 100}, "effect": {"reset": "stream"}},
                        {"match": {"every": 130}, "effect": {"reset": "stream", "when": "after_accept"}}
                    ]}
                    """),
            Fault(
                testDescription: "fewer streams for a while",
                scenario:
                    #"{"rules": [{"match": {"every": 700}, "effect": {"settings": {"max_streams": 10, "for": 50}}}]}"#),
        ]

        /// 5,000 messages over two connections.
        @Test("Streams and connections that end in the middle", arguments: faults)
        func midBatch(fault: Fault) throws {
            let pipeline = try Pipeline(scenario: fault.scenario)
            try pipeline.queue(5_000, "faulty")
            let sender = try pipeline.sender(["--drain", "--retry-base", "1"]).end()
            #expect(sender.exitCode == 0, "\(sender.story)")
            let extra = try pipeline.expectAllSent(5_000)
            if fault.isProven {
                #expect(extra == 0)
                #expect(try pipeline.duplicateRisk() == 0, "libcurl can tell that these were not processed")
            }
        }

        /// 3,000 messages over two connections, in no less than a second and a half.
        @Test(
            "Connections are replaced by count and by age without a dip",
            arguments: [
                ["--connection-requests", "500"], ["--connection-age", "1"],
            ])
        func recycled(options: [String]) throws {
            let pipeline = try Pipeline(faults: ["--latency", "100"])
            try pipeline.queue(3_000, "many")
            let sender = try pipeline.sender(["--drain"] + options).end()
            #expect(sender.exitCode == 0, "\(sender.story)")
            #expect(try pipeline.expectAllSent(3_000) == 0)
            #expect(try pipeline.duplicateRisk() == 0)
            // One is the token endpoint's.
            let connections = try pipeline.emulated("connections.total") - 1
            #expect((3...12).contains(connections))
            // Two, a successor, one that drains, and the token endpoint's.
            let peak = try pipeline.emulated("connections.peak")
            #expect(peak <= 6)
        }

        @Test("A connection that has not shown HTTP/2 carries one request; an HTTP/1.1 server stops the app")
        func http1Only() throws {
            let pipeline = try Pipeline(scenario: #"{"server": {"http": "1.1"}}"#)
            try pipeline.queue(500, "old")
            let sender = try pipeline.sender(["--poll-interval", "50"])
            _ = try sender.line(with: "HTTP/1.1")
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            let states = try pipeline.states()
            #expect(states["sending"] == nil && states["sent", default: 0] > 0, "\(states)")
            #expect(states["pending", default: 0] > 400, "\(states)")
            #expect(try pipeline.number("SELECT max(attempts) FROM todoke.messages") == 0)
            // What was answered over HTTP/1.1 was answered once, never more than one request a connection.
            #expect(try pipeline.arrivalsByToken().values.allSatisfy { $0 == 1 })
            #expect(try pipeline.emulated("concurrency.peak") <= 2)
        }

        /// 1 message, then 300 over connections that the server closed meanwhile.
        @Test("A stale keep-alive connection costs nothing", arguments: ["fin", "rst"])
        func staleKeepAlive(how: String) throws {
            let pipeline = try Pipeline(scenario: #"{"server": {"close_idle": {"after": 200, "by": "\#(how)"}}}"#)
            let sender = try pipeline.sender(["--poll-interval", "50"])
            try pipeline.queue(1, "first")
            try pipeline.control("/wait?accepted=1&timeout=60")
            try pipeline.control("/wait?connections.now<=1&timeout=60")
            try pipeline.queue(300, "second")
            try pipeline.control("/wait?accepted=301&timeout=60")
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            #expect(try pipeline.number("SELECT count(*) FROM todoke.messages WHERE state = 'sent'") == 301)
            #expect(try pipeline.number("SELECT max(attempts) FROM todoke.messages") == 0)
            #expect(try pipeline.duplicateRisk() == 0)
            #expect(try pipeline.emulated("accepted") == 301)
        }

        /// 300 messages; the first request over the connection that is dead without a word waits in vain for 10 s.
        @Test("A half-open connection costs one request that waits in vain, and no attempt")
        func halfOpen() throws {
            let pipeline = try Pipeline(scenario: #"{"server": {"close_idle": {"after": 5500, "by": "silent"}}}"#)
            // The shortest time that a post may take is 10 s.
            let sender = try pipeline.sender(["--poll-interval", "50", "--lease", "30"])
            try pipeline.queue(1, "first")
            try pipeline.control("/wait?accepted=1&timeout=60")
            // A connection that went silent stays in the count; the token's goes first, so both are over by then.
            try wait(for: "the connections are silent") {
                let open = try pipeline.control("/connections")["open"] as? [[String: Any]] ?? []
                return open.allSatisfy { Self.age($0) > 6 } && !open.isEmpty
            }
            try pipeline.queue(300, "second")
            try pipeline.control("/wait?accepted=301&timeout=60")
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            #expect(try pipeline.number("SELECT count(*) FROM todoke.messages WHERE state = 'sent'") == 301)
            #expect(try pipeline.number("SELECT max(attempts) FROM todoke.messages") == 0)
            let risk = try pipeline.duplicateRisk()
            #expect(risk == 1, "\(ended.story)")
            #expect(try pipeline.emulated("accepted") == 301)
        }

        @Test("A proxy is used where libcurl's variables name one, and not for what NO_PROXY names")
        func proxied() throws {
            let pipeline = try Pipeline()
            let proxy = try ConnectProxy()
            let address = "http://127.0.0.1:\(proxy.port)"
            try pipeline.queue(500, "proxied")
            let through = try pipeline.sender(environment: ["https_proxy": address, "no_proxy": ""]).end()
            #expect(through.exitCode == 0, "\(through.story)")
            // Two connections to post over and one for the token.
            #expect(proxy.count == 3)
            try pipeline.queue(10, "direct")
            let direct = try pipeline.sender(environment: ["https_proxy": address, "no_proxy": "localhost,127.0.0.1"])
                .end()
            #expect(direct.exitCode == 0, "\(direct.story)")
            #expect(proxy.count == 3)
            try pipeline.queue(10, "without")
            // Port 1 of this machine is nobody's.
            let refused = try pipeline.sender(
                ["--drain", "--startup-timeout", "1"],
                environment: ["https_proxy": "http://127.0.0.1:1", "no_proxy": ""]
            ).end()
            #expect(refused.exitCode == 69, "\(refused.story)")
            #expect(
                try pipeline.number("SELECT count(*) FROM todoke.messages WHERE state = 'pending' AND attempts = 0")
                    == 10)
        }

        @Test("A proxy that opens the way to the token and not to FCM opens the breaker, and is named")
        func refusedByTheProxy() throws {
            let pipeline = try Pipeline()
            let proxy = try ConnectProxy(admitted: 1)
            try pipeline.queue(10, "refused")
            let environment = ["https_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": ""]
            let ended = try pipeline.sender(environment: environment).end()
            #expect(ended.exitCode == 69, "\(ended.story)")
            #expect(ended.story.contains("403") && ended.story.contains("proxies"), "\(ended.story)")
            #expect(proxy.count == 1)
            #expect(
                try pipeline.number("SELECT count(*) FROM todoke.messages WHERE state = 'pending' AND attempts = 0")
                    == 10)
            #expect(try pipeline.number("SELECT max(claim_no) FROM todoke.messages") <= 2, "claimed over and over")
        }

        /// Seconds since a connection in `/connections` was opened.
        private static func age(_ connection: [String: Any]) -> TimeInterval {
            let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            guard let text = connection["opened"] as? String, let opened = try? format.parse(text) else { return 0 }
            return -opened.timeIntervalSinceNow
        }
    }
}
