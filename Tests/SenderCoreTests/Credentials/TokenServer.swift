import HTTP1
import Reactor

@testable import SenderCore

/// A server on loopback that gives tokens, on the same loop as the sender's part that asks it.
final class TokenServer {
    let reactor: Reactor
    let events = EventQueue()
    let host: String
    private let listener: ListeningSocket
    private var server: HTTP1Server?
    private(set) var requests: [HTTP1Request] = []
    /// What the requests are answered one after the other; none is no answer.
    var answers: [HTTP1Response] = []
    var onRequest: (HTTP1Request) -> Void = { _ in }

    private final class Acceptor: PollSource {
        let action: () -> Void
        init(_ action: @escaping () -> Void) { self.action = action }
        func ready(_ readiness: Interest) { action() }
    }

    init() throws {
        reactor = try Reactor()
        listener = try ListeningSocket(host: "127.0.0.1", port: 0)
        host = "127.0.0.1:\(listener.port)"
        server = try HTTP1Server(reactor: reactor, settings: HTTP1Settings()) { [unowned self] request in
            requests.append(request)
            onRequest(request)
            if !answers.isEmpty { request.respond(answers.removeFirst()) }
        }
        try reactor.watch(
            listener.descriptor, .read,
            Acceptor { [unowned self] in while let client = listener.accept() { server?.add(client) } })
    }

    deinit {
        requests = []
        server = nil
        reactor.unwatch(listener.descriptor)
    }

    /// Turns the loop until it is so; false when it never became so.
    func turn(_ tokens: [TokenFetcher], until isDone: () -> Bool) throws -> Bool {
        let limit = Reactor.now + 20_000_000_000
        while !isDone() {
            guard Reactor.now < limit else { return false }
            for fetcher in tokens { fetcher.turn(now: Reactor.now) }
            let wakeUp =
                ([limit, server?.delay(now: Reactor.now).map { Reactor.now + $0 }] + tokens.map(\.deadline))
                .compactMap(\.self).min() ?? limit
            try reactor.wait(atMostNanoseconds: max(0, min(wakeUp - Reactor.now, 100_000_000)))
            serve()
        }
        return true
    }

    /// Lets the server work in somebody else's turn.
    func serve() {
        server?.receive()
        server?.flush()
    }

    /// A good answer, in the form of both kinds of servers.
    static func token(_ token: String, lifetime: Int = 3_600, isGoogles: Bool = true) -> HTTP1Response {
        HTTP1Response(
            status: 200, headers: isGoogles ? [("Metadata-Flavor", "Google")] : [],
            body: Array(#"{"access_token":"\#(token)","expires_in":\#(lifetime),"token_type":"Bearer"}"#.utf8))
    }
}
