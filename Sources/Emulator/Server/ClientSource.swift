import HTTP2
import Reactor

/// A client's connection as the reactor sees it: reads requests, hands them to the service.
final class ClientSource: PollSource {
    let connection: HTTP2Connection
    private let service: EmulatedService
    var interest: Interest = .read
    /// It stopped reading to let others have their turn.
    private(set) var hasMore = false
    /// Nanoseconds of the monotonic clock at which something came from the client.
    private(set) var lastActive = Reactor.now

    init(_ connection: HTTP2Connection, service: EmulatedService) {
        self.connection = connection
        self.service = service
    }

    func ready(_ readiness: Interest) {
        // Nothing is read from it, so only its end is heard of, and then nobody is left to be silent to.
        if connection.raw.phase == .silent, readiness != .read { connection.raw.closeNow() }
        if readiness.contains(.read) {
            lastActive = Reactor.now
            hasMore = connection.raw.receive()
            while let exchange = connection.nextExchange() { service.handle(exchange) }
        }
        connection.touch()
    }
}

extension ClientSource {
    /// Nothing is asked and nothing is on its way.
    var isIdle: Bool {
        switch connection.raw.phase {
        case .handshaking: true
        case .open: connection.raw.openStreams == 0
        case .plain, .draining, .silent, .closed: false
        }
    }
}

/// A descriptor whose readiness is one call.
final class CallbackSource: PollSource {
    private let action: () -> Void

    init(_ action: @escaping () -> Void) { self.action = action }

    func ready(_ readiness: Interest) { action() }
}
