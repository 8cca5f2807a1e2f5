import HTTP1
import HTTP2
import Reactor

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The HTTP/1.1 side of the main port: connections that chose it in their TLS handshake, and their requests.
final class HTTP1Front {
    private let reactor: Reactor
    private let inspector: Inspector
    private let server: HTTP1Server
    private let requests = RequestQueue()
    /// By libmicrohttpd's connection.
    private var tunnels: [Int: HTTP1Tunnel] = [:]
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)

    init(reactor: Reactor, inspector: Inspector, maxBodyBytes: Int) throws(HTTP1Error) {
        self.reactor = reactor
        self.inspector = inspector
        var settings = HTTP1Settings()
        settings.maxBodyBytes = maxBodyBytes
        settings.maxConnections = 4096
        let requests = requests
        server = try HTTP1Server(reactor: reactor, settings: settings) { requests.waiting.append($0) }
    }

    deinit {
        server.close()
        buffer.deallocate()
    }

    /// Takes over a connection whose handshake is done, unwatched.
    func add(_ raw: ServerConnection, id: Int) {
        var pair: [Int32] = [-1, -1]
        guard
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair)
                == 0
        else { return turnAway(raw, id) }
        guard let key = server.add(pair[1]) else {
            _ = close(pair[0])
            return turnAway(raw, id)
        }
        let tunnel = HTTP1Tunnel(raw, id: id, inner: pair[0], buffer: buffer, reactor: reactor) {
            [unowned self] ended in
            tunnels[key] = nil
            inspector.ended(connection: ended.id, at: Reactor.now)
        }
        tunnels[key] = tunnel
        inspector.observed(connection: id, isHTTP2: false, streams: 0)
        tunnel.carry()
    }

    /// Hands complete requests over.
    func receive(_ handle: (HTTP1Exchange) -> Void) {
        server.receive()
        guard !requests.waiting.isEmpty else { return }
        let waiting = requests.waiting
        requests.waiting = []
        for request in waiting {
            guard let tunnel = tunnels[request.connectionID] else {
                request.cut()
                continue
            }
            let id = tunnel.id
            tunnel.lastTicket = request.id
            inspector.observed(connection: id, isHTTP2: false, streams: 1)
            handle(
                HTTP1Exchange(request, by: tunnel) { [inspector] in
                    inspector.observed(connection: id, isHTTP2: false, streams: 0)
                })
        }
    }

    /// Lets the answers go out.
    func flush() { server.flush() }

    func delay(now: Int64) -> Int64? { server.delay(now: now) }

    private func turnAway(_ raw: ServerConnection, _ id: Int) {
        raw.release()
        inspector.ended(connection: id, at: Reactor.now)
    }
}

/// What arrived and is not handed over.
private final class RequestQueue {
    var waiting: [HTTP1Request] = []
}
