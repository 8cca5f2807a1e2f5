import HTTP1
import Operations
import Reactor

/// The control API's port: plain HTTP/1.1 on a loopback address.
final class ControlServer {
    /// The URL under which it is found.
    let url: String

    private let listener: ListeningSocket
    private let server: HTTP1Server
    private let api: ControlAPI
    private let reactor: Reactor

    init(host: String, port: Int, inspector: Inspector, service: EmulatedService, reactor: Reactor) throws {
        listener = try ListeningSocket(host: host, port: port)
        url = "http://\(host.contains(":") ? "[\(host)]" : host):\(listener.port)"
        let api = ControlAPI(inspector: inspector, service: service, url: url)
        var settings = HTTP1Settings()
        settings.maxBodyBytes = 4 << 20
        server = try HTTP1Server(reactor: reactor, settings: settings) { api.handle($0) }
        self.api = api
        self.reactor = reactor
        let listener = listener
        let server = server
        try reactor.watch(
            listener.descriptor, .read,
            CallbackSource { while let descriptor = listener.accept() { server.add(descriptor) } })
    }

    deinit { reactor.unwatch(listener.descriptor) }

    /// Takes requests, and answers them and those who waited for what this turn brought.
    func turn() {
        server.receive()
        api.checkWaiters()
        server.flush()
    }

    func delay(now: Int64) -> Int64? { [server.delay(now: now), api.delay(now: now)].compactMap(\.self).min() }
}
