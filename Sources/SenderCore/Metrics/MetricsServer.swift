import HTTP1
import Operations
import Reactor

/// The port for Prometheus and for probes: plain HTTP/1.1, read only, served by the sender's own loop.
///
/// Nobody there can hold the loop up: connections are few, requests short, each has seconds, and answers are made in
/// memory. That the loop answers proves that it turns.
final class MetricsServer {
    /// What is asked for.
    enum Page: String { case metrics = "/metrics", health = "/healthz", readiness = "/readyz" }

    /// What is answered: plain text.
    struct Answer {
        let status: Int
        let type: String
        let text: String

        init(status: Int = 200, type: String = "text/plain; charset=utf-8", text: String) {
            self.status = status
            self.type = type
            self.text = text
        }

        /// A probe's answer: 503 with what is wrong, one thing a line, or 200 with one word.
        init(lines: [String], good: String) {
            self.init(
                status: lines.isEmpty ? 200 : 503, text: (lines.isEmpty ? [good] : lines).joined(separator: "\n") + "\n"
            )
        }
    }

    /// The URL under which it is found.
    let url: String

    private let listener: ListeningSocket
    private let server: HTTP1Server
    private let reactor: Reactor
    /// Makes the answer once the sender has started.
    var answer: (Page) -> Answer {
        get { responder.answer }
        set { responder.answer = newValue }
    }
    private let responder: Responder

    init(_ address: ListenAddress, reactor: Reactor) throws(Failure) {
        let responder = Responder()
        do {
            listener = try ListeningSocket(host: address.host, port: address.port)
            var settings = HTTP1Settings()
            settings.maxConnections = 32
            settings.maxHeadBytes = 8 << 10
            settings.maxBodyBytes = 1 << 10
            settings.idleSeconds = 30
            settings.requestSeconds = 10
            settings.responseSeconds = 30
            server = try HTTP1Server(reactor: reactor, settings: settings) { responder.respond(to: $0) }
            try reactor.watch(listener.descriptor, .read, Door(listener: listener, server: server))
        } catch {
            throw Failure(
                .unavailable, "--metrics-listen: \(error)",
                remedy: "choose another port (each sender on a machine needs its own), or 0 for a free one")
        }
        self.responder = responder
        self.reactor = reactor
        url = "http://\(address.host.contains(":") ? "[\(address.host)]" : address.host):\(listener.port)"
    }

    deinit { reactor.unwatch(listener.descriptor) }

    /// Answers what has come.
    func turn() {
        server.receive()
        server.flush()
    }

    /// Nanoseconds until it wants another turn; nil when only sockets matter.
    func delay(now: Int64) -> Int64? { server.delay(now: now) }
}

/// Lets clients in, a few in each turn of the loop.
private final class Door: PollSource {
    private let listener: ListeningSocket
    private let server: HTTP1Server

    init(listener: ListeningSocket, server: HTTP1Server) {
        self.listener = listener
        self.server = server
    }

    func ready(_ readiness: Interest) {
        // Who is left is reported again by the next turn.
        for _ in 0..<16 {
            guard let descriptor = listener.accept() else { return }
            server.add(descriptor)
        }
    }
}

private final class Responder {
    /// Until the loop has its own: the program lives, and has nothing to tell yet.
    var answer: (MetricsServer.Page) -> MetricsServer.Answer = { page in
        .init(lines: page == .health ? [] : ["starting"], good: "ok")
    }

    func respond(to request: HTTP1Request) {
        let path = request.target.prefix { $0 != UInt8(ascii: "?") }
        guard let page = MetricsServer.Page(rawValue: String(decoding: path, as: UTF8.self)) else {
            return send(.init(status: 404, text: "there is /metrics, /healthz and /readyz\n"), to: request)
        }
        // The library leaves the body of an answer to HEAD out.
        guard request.method.elementsEqual("GET".utf8) || request.method.elementsEqual("HEAD".utf8) else {
            return send(.init(status: 405, text: "GET and HEAD only\n"), to: request, more: [("Allow", "GET, HEAD")])
        }
        send(answer(page), to: request)
    }

    private func send(
        _ answer: MetricsServer.Answer, to request: HTTP1Request, more: [(name: String, value: String)] = []
    ) {
        var response = HTTP1Response(
            status: answer.status, headers: [("Content-Type", answer.type), ("Cache-Control", "no-store")] + more,
            body: Array(answer.text.utf8))
        // Who sends bodies here is no scraper.
        response.closesConnection = request.receivedBody
        request.respond(response)
    }
}
