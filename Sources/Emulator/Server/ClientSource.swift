import HTTP2
import Reactor

/// A client's connection as the reactor sees it: reads requests, hands them to the service.
final class ClientSource: PollSource {
    let connection: ServerConnection
    private let service: EmulatedService
    private let touch: (ClientSource) -> Void
    var interest: Interest = .read
    /// It is already in the list of this turn.
    var isTouched = false
    /// It stopped reading to let others have their turn.
    private(set) var hasMore = false

    init(_ connection: ServerConnection, service: EmulatedService, touch: @escaping (ClientSource) -> Void) {
        self.connection = connection
        self.service = service
        self.touch = touch
    }

    func ready(_ readiness: Interest) {
        if readiness.contains(.read) {
            hasMore = connection.receive()
            while let stream = connection.nextRequest() { service.handle(stream, on: connection) }
        }
        touch(self)
    }
}

/// A descriptor whose readiness is one call.
final class CallbackSource: PollSource {
    private let action: () -> Void

    init(_ action: @escaping () -> Void) { self.action = action }

    func ready(_ readiness: Interest) { action() }
}
