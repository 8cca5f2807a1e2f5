import Foundation
import Glibc
import Postgres
import Testing

extension EndToEnd {
    /// The sender's port for Prometheus and probes, on the built program.
    @Suite("Metrics and probes")
    struct MetricsTests {
        /// 5,000 messages, of which some die, some fail, some need several attempts and some have no answer at first.
        @Test("Scraped while it sends; at the end the counts are those of SQL")
        func counts() throws {
            let pipeline = try Pipeline()
            try pipeline.control(
                "/scenario",
                """
                {"seed": 11,
                 "targets": [{"pattern": "device-1*7", "is": "unregistered"}],
                 "rules": [
                    {"match": {"valid": true, "every": 40}, "effect": {"error": "UNAVAILABLE"}},
                    {"match": {"valid": true, "every": 70}, "effect": {"error": "INVALID_ARGUMENT"}},
                    {"match": {"valid": true, "every": 400}, "effect": {"reset": "stream", "when": "after_accept"}}]}
                """)
            let count = 5_000
            try pipeline.queue(count, "counted")
            let sender = try pipeline.sender(["--retry-base", "0", "--metrics-listen", "0"])
            let port = try MetricsPort(of: sender)
            var scrapes = 0
            var earlier = 0
            try wait(for: "all have an end") {
                let sent = try port.metrics()[#"todoke_messages_sent_total{app="recipes"}"#] ?? 0
                #expect(Int(sent) >= earlier)
                earlier = Int(sent)
                scrapes += 1
                return try pipeline.number(
                    "SELECT count(*) FROM todoke.messages WHERE state IN ('pending', 'sending')") == 0
            }
            #expect(scrapes > 1)
            let metrics = try port.metrics(where: "no result is on its way") {
                $0["todoke_results_waiting"] == 0 && $0[#"todoke_messages_in_flight{app="recipes"}"#] == 0
            }
            func value(_ name: String) -> Int { Int(metrics[name] ?? -1) }
            func total(_ prefix: String) -> Int {
                metrics.reduce(0) { $1.key.hasPrefix(prefix) ? $0 + Int($1.value) : $0 }
            }

            let states = try pipeline.states()
            #expect(states["sent", default: 0] > 0 && states["failed", default: 0] > 0, "\(states)")
            #expect(value(#"todoke_messages_sent_total{app="recipes"}"#) == states["sent"])
            #expect(total("todoke_messages_failed_total{") == states["failed"])
            let failures = try pipeline.database.query(
                "SELECT error_code, count(*) FROM todoke.messages WHERE state = 'failed' GROUP BY 1")
            for row in 0..<failures.rowCount {
                let name = #"todoke_messages_failed_total{app="recipes",code="\#(failures.string(row, 0))"}"#
                #expect(value(name) == failures.int(row, 1), "\(name)")
            }
            let retried = try pipeline.number(
                "SELECT count(*) FROM todoke.attempts WHERE retry_at IS NOT NULL AND http_status IS NOT NULL")
            #expect(retried > 0)
            #expect(total("todoke_messages_retried_total{") == retried)
            #expect(value("todoke_provider_connections_opened_total") >= 1)
            // Every post ended in an answer or without one, and was begun.
            #expect(
                total("todoke_provider_answers_total{") == value(#"todoke_posts_total{app="recipes"}"#))
            #expect(
                value(#"todoke_provider_answers_total{app="recipes",status="200"}"#) == states["sent"])
            #expect(
                value(#"todoke_provider_answer_seconds_count{app="recipes"}"#)
                    == total("todoke_provider_answers_total{")
                    - value(#"todoke_provider_answers_total{app="recipes",status="not_issued"}"#)
                    - value(#"todoke_provider_answers_total{app="recipes",status="unknown"}"#))
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            let risk = try pipeline.number("SELECT sum(duplicate_risk) FROM todoke.senders")
            #expect(risk > 0, "no stream was reset, so this shows less than it should")
            #expect(value("todoke_duplicate_risk_total") == risk)
            #expect(!ended.errors.contains("device-1"), "a target in the log")
        }

        @Test("A database that is gone: not ready, but healthy; and ready again when it is back")
        func databaseLoss() throws {
            let pipeline = try Pipeline()
            let sender = try pipeline.sender(["--metrics-listen", "0"])
            let port = try MetricsPort(of: sender)
            try wait(for: "ready") { try port.get("/readyz").status == 200 }
            try pipeline.closeDatabase()
            try wait(for: "not ready") { try port.get("/readyz").status == 503 }
            #expect(try port.get("/readyz").body.contains("no database connection\n"))
            #expect(try port.get("/healthz").status == 200)
            #expect(try port.metrics()["todoke_database_up"] == 0)
            #expect(try port.metrics()["todoke_sender_ready"] == 0)
            try pipeline.openDatabase()
            try wait(for: "ready again") { try port.get("/readyz").status == 200 }
            let metrics = try port.metrics()
            #expect(metrics["todoke_database_up"] == 1)
            #expect(metrics["todoke_database_connects_total"] == 2)
            #expect(metrics["todoke_database_losses_total", default: 0] >= 1)
            sender.send(SIGTERM)
            #expect(try sender.end().exitCode == 0)
        }

        @Test("A token endpoint that refuses: not ready until there is a token, and its faults are counted")
        func tokenRefused() throws {
            let pipeline = try Pipeline()
            try pipeline.control("/token", #"{"error": "server_error"}"#)
            let sender = try pipeline.sender(["--metrics-listen", "127.0.0.1:0"])
            let port = try MetricsPort(of: sender)
            try wait(for: "a token request that failed") {
                try port.metrics()[#"todoke_token_refresh_failures_total{credential="0"}"#] ?? 0 > 0
            }
            let answer = try port.get("/readyz")
            #expect(answer.status == 503)
            #expect(answer.body.contains("no access token for recipes\n"))
            #expect(try port.get("/healthz").status == 200)
            #expect(
                try port.metrics()[#"todoke_breaker_open{app="recipes",fault="unavailable"}"#] == 1)
            try pipeline.control("/token", "{}")
            try wait(for: "ready") { try port.get("/readyz").status == 200 }
            let metrics = try port.metrics()
            #expect(metrics[#"todoke_token_seconds_left{credential="0"}"#, default: 0] > 60)
            #expect(metrics[#"todoke_breaker_open{app="recipes",fault="unavailable"}"#] == 0)
            sender.send(SIGTERM)
            #expect(try sender.end().exitCode == 0)
        }

        /// 2,000 messages, while 40 clients connect to the port and say nothing or half of something.
        @Test("Clients of the port that say nothing, or half of something, hold no message up")
        func silentClients() throws {
            let pipeline = try Pipeline()
            try pipeline.queue(2_000, "crowded")
            let sender = try pipeline.sender(["--metrics-listen", "0"])
            let port = try MetricsPort(of: sender)
            // Those beyond the limit are turned away, some before they have said anything.
            let clients = (0..<40).compactMap { try? PlainHTTP.open(port.number, $0 % 2 == 0 ? "" : "GET /metr") }
            #expect(clients.count >= 20)
            defer { clients.forEach { close($0) } }
            try wait(for: "all are sent") { try pipeline.states() == ["sent": 2_000] }
            sender.send(SIGTERM)
            #expect(try sender.end().exitCode == 0)
        }

        @Test("A port that another sender has: exit 69, with the option in the message")
        func taken() throws {
            let pipeline = try Pipeline()
            let first = try pipeline.sender(["--metrics-listen", "0"])
            let port = try MetricsPort(of: first)
            let second = try pipeline.sender(["--metrics-listen", "\(port.number)"]).end()
            #expect(second.exitCode == 69, "\(second.story)")
            #expect(second.messages.contains { $0.contains("--metrics-listen") })
            first.send(SIGTERM)
            #expect(try first.end().exitCode == 0)
        }
    }
}

/// The metrics port of a running sender.
struct MetricsPort {
    let number: UInt16

    /// Waits until the sender says where it is.
    init(of sender: RunningProgram) throws {
        let line = try sender.line(with: "serving metrics")
        guard let text = line.split(separator: "http://127.0.0.1:").last?.prefix(while: \.isNumber),
            let number = UInt16(text)
        else { throw Late(description: "no port in: \(line)") }
        self.number = number
    }

    func get(_ path: String) throws -> (status: Int, body: String) {
        let answer = try PlainHTTP.ask(number, "GET \(path) HTTP/1.0\r\n\r\n")
        return (answer.status, answer.body)
    }

    /// All samples by name and labels, as they are written.
    func metrics() throws -> [String: Double] {
        let answer = try get("/metrics")
        guard answer.status == 200 else { throw Late(description: "/metrics: \(answer.status) \(answer.body)") }
        var samples: [String: Double] = [:]
        for line in answer.body.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                throw Late(description: "not a sample: \(line)")
            }
            samples[String(line[..<space])] = value
        }
        return samples
    }

    /// Scrapes until the samples fulfil the condition, and returns them.
    func metrics(where what: String, _ isSo: ([String: Double]) -> Bool) throws -> [String: Double] {
        var samples: [String: Double] = [:]
        try wait(for: what) {
            samples = try metrics()
            return isSo(samples)
        }
        return samples
    }
}

/// HTTP/1.0 to a port of this machine: one request, one connection.
enum PlainHTTP {
    static func ask(_ port: UInt16, _ request: String) throws -> (status: Int, body: String) {
        let descriptor = try open(port, request)
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n"), let status = Int(text.dropFirst(9).prefix(3)) else {
            throw Late(description: "port \(port) answered: \(text.prefix(200))")
        }
        return (status, String(text[end.upperBound...]))
    }

    /// A connection on which the text was sent; the caller closes it.
    static func open(_ port: UInt16, _ text: String) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // An answer that does not come fails the test instead of holding it.
        var limit = timeval(tv_sec: Int(patience), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0, send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count else {
            let reason = errno
            close(descriptor)
            throw Late(description: "port \(port): errno \(reason)")
        }
        return descriptor
    }
}

extension Pipeline {
    /// Puts a scenario, or a part of one, through the emulator's control port.
    func control(_ path: String, _ json: String) throws {
        let url = try String(contentsOf: directory.appendingPathComponent("control"), encoding: .utf8)
        guard let port = url.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ":").last,
            let number = UInt16(port)
        else { throw Late(description: "no control port in \(url)") }
        let request =
            "PUT \(path) HTTP/1.0\r\nHost: 127.0.0.1:\(number)\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)"
        let answer = try PlainHTTP.ask(number, request)
        guard answer.status == 200 else { throw Late(description: "\(path): \(answer.status) \(answer.body)") }
    }

    /// Ends the senders' connections and lets nobody in, as a server that went away.
    func closeDatabase() throws {
        let name = databaseURL.replacingOccurrences(of: "dbname=", with: "")
        let server = try Connection(Conninfo("dbname=postgres", applicationName: "todoke tests"))
        try server.script("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
        _ = try server.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'"
                + " AND application_name = 'todoke-sender'")
    }

    func openDatabase() throws {
        let name = databaseURL.replacingOccurrences(of: "dbname=", with: "")
        let server = try Connection(Conninfo("dbname=postgres", applicationName: "todoke tests"))
        try server.script("ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
    }
}
