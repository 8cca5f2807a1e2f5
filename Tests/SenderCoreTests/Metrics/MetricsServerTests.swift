import Glibc
import Operations
import Reactor
import Testing

@testable import SenderCore

/// The port itself, with real sockets on one loop.
@Suite("Metrics port") struct MetricsServerTests {
    private let reactor: Reactor
    private let server: MetricsServer

    init() throws {
        reactor = try Reactor()
        server = try MetricsServer(ListenAddress("0", option: "x", barePortHost: "127.0.0.1"), reactor: reactor)
        server.answer = { page in
            switch page {
            case .metrics: .init(type: Exposition.contentType, text: "a 1\n")
            case .health: .init(lines: [], good: "ok")
            case .readiness: .init(lines: ["stopping", "no database connection"], good: "ready")
            }
        }
    }

    private var port: UInt16 { UInt16(server.url.split(separator: ":").last ?? "") ?? 0 }

    /// Turns the loop until it is so; false when it never was.
    private func turn(until isDone: () -> Bool) throws -> Bool {
        let deadline = Reactor.now + 10_000_000_000
        while Reactor.now < deadline {
            if isDone() { return true }
            try reactor.wait(atMostNanoseconds: min(50_000_000, server.delay(now: Reactor.now) ?? .max))
            server.turn()
        }
        return isDone()
    }

    private func ask(_ text: String) throws -> String {
        let client = try LoopbackClient(port: port)
        client.send(text)
        #expect(try turn { client.isEnded }, "no end after: \(client.text)")
        return client.text
    }

    @Test(
        "Metrics come with Prometheus' own type; probes as lines of text with 200 or 503",
        arguments: [
            ("/metrics", 200, "text/plain; version=0.0.4; charset=utf-8", "a 1\n"),
            ("/metrics?name[]=a", 200, "text/plain; version=0.0.4; charset=utf-8", "a 1\n"),
            ("/healthz", 200, "text/plain; charset=utf-8", "ok\n"),
            ("/readyz", 503, "text/plain; charset=utf-8", "stopping\nno database connection\n"),
            ("/", 404, "text/plain; charset=utf-8", "there is /metrics, /healthz and /readyz\n"),
        ])
    func pages(path: String, status: Int, type: String, body: String) throws {
        let answer = try ask("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(answer.contains("\r\nContent-Type: \(type)\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n\(body)"))
    }

    @Test("While a metadata server is looked for, the sender lives and is not ready")
    func starting() throws {
        let early = try MetricsServer(ListenAddress("0", option: "x", barePortHost: "127.0.0.1"), reactor: reactor)
        let port = try #require(UInt16(early.url.split(separator: ":").last ?? ""))
        let clients = try ["healthz", "readyz"].map { page in
            let client = try LoopbackClient(port: port)
            client.send("GET /\(page) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return client
        }
        let silent = try ListeningSocket(host: "127.0.0.1", port: 0)
        let host = "127.0.0.1:\(silent.port)"
        let probe = MetadataProbe(
            server: MetadataServer(host: host, probeHost: host, timeoutMilliseconds: 300), reactor: reactor,
            options: TransferOptions(), isInterrupted: { clients.allSatisfy(\.isEnded) }, metrics: early)
        try probe.run()
        #expect(clients[0].text.hasPrefix("HTTP/1.1 200 ") && clients[0].text.hasSuffix("ok\n"))
        #expect(clients[1].text.hasPrefix("HTTP/1.1 503 ") && clients[1].text.hasSuffix("starting\n"))
    }

    @Test func headHasNoBody() throws {
        let answer = try ask("HEAD /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
        #expect(answer.contains("Content-Length: 3\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test("Other methods are refused, and who sends a body is let go")
    func methods() throws {
        let answer = try ask("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
        #expect(answer.hasPrefix("HTTP/1.1 405 "))
        #expect(answer.contains("\r\nAllow: GET, HEAD\r\n"))
    }

    @Test(
        "Heads without measure, bodies without end and noise end their connection",
        arguments: [
            "GET /metrics HTTP/1.1\r\nHost: x\r\nX-Long: \(String(repeating: "y", count: 20_000))\r\n\r\n",
            "GET /\(String(repeating: "y", count: 20_000)) HTTP/1.1\r\nHost: x\r\n\r\n",
            "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n\(String(repeating: "z", count: 100_000))",
            "\u{16}\u{3}\u{1}\u{2}\r\n\r\n",
        ])
    func hostile(text: String) throws {
        let answer = try ask(text)
        #expect(!answer.contains("a 1"))
    }

    @Test("Silent clients up to the limit and beyond leave the loop turning, and room comes back when they leave")
    func crowd() throws {
        var silent: [LoopbackClient] = []
        for _ in 0..<100 { silent.append(try LoopbackClient(port: port)) }
        // Those beyond the limit are turned away.
        #expect(try turn { silent.count { $0.isEnded } == 68 })
        silent = []
        let client = try LoopbackClient(port: port)
        var answered: LoopbackClient? = client
        #expect(
            try turn {
                // Who comes before the others' ends are seen may be turned away once.
                if answered?.isEnded == true { answered = try? LoopbackClient(port: port) }
                answered?.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                return answered?.text.contains("200") == true
            })
    }

    @Test("A port that is taken is a clear failure that names the option")
    func taken() throws {
        let address = try ListenAddress("\(port)", option: "x", barePortHost: "127.0.0.1")
        let failure = #expect(throws: Failure.self) { _ = try MetricsServer(address, reactor: Reactor()) }
        #expect(failure?.exit == .unavailable)
        #expect(failure?.line.contains("--metrics-listen: cannot listen on 127.0.0.1 port \(port)") == true)
    }
}

/// The other end of a connection to a port of this machine; never waits.
private final class LoopbackClient {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private var hasEnd = false
    private var output: [UInt8] = []

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 && errno != EINPROGRESS { throw ReactorErrorInTest(code: errno) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        output += Array(text.utf8)
        pump()
    }

    var isEnded: Bool {
        pump()
        return hasEnd
    }

    var text: String {
        pump()
        return String(decoding: received, as: UTF8.self)
    }

    private func pump() {
        if !output.isEmpty {
            let count = Glibc.send(descriptor, output, output.count, Int32(MSG_NOSIGNAL))
            if count > 0 { output.removeFirst(count) }
        }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while !hasEnd {
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count > 0 { received += bytes[..<count] }
            if count == 0 || (count < 0 && errno != EAGAIN) { hasEnd = true }
            if count <= 0 { break }
        }
    }
}

private struct ReactorErrorInTest: Error { let code: Int32 }
