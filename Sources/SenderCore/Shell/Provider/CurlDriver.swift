import Curl
import Reactor

/// Drives one multi handle from the reactor: its sockets, its timer, and what it finished.
///
/// The kernel hears of a socket when it is opened and when it is closed, not at every request: one that libcurl does not wait
/// for stays watched, which also shows when the server ends an idle connection.
final class CurlDriver {
    let multi: MultiHandle
    private let reactor: Reactor
    private var sockets: [Int32: CurlSocket] = [:]
    /// Told of every transfer that ended.
    var finished: (Transfer, CurlCode) -> Void = { _, _ in }
    /// Told when the server has closed a connection that nobody used.
    var idleConnectionEnded: () -> Void = {}

    init(reactor: Reactor, streams: Int, connectsOnce: Bool = false) throws(CurlError) {
        self.reactor = reactor
        multi = try MultiHandle(maxStreamsPerConnection: streams, maxConnections: 1, connectsOnce: connectsOnce)
    }

    /// When ``turn(now:)`` has something to do: at once for what was added, or when libcurl's own timer ends.
    var deadline: Int64? { multi.isWaitingToStart ? 0 : multi.deadline }

    func socketReady(_ socket: CurlSocket, _ readiness: Interest) {
        guard !socket.isIdle else {
            idleSocketReady(socket, readiness)
            return
        }
        multi.socketReady(
            socket.descriptor, readable: readiness.contains(.read), writable: readiness.contains(.write))
        afterwards()
    }

    /// Starts what was added, and serves the timer when it is time.
    func turn(now: Int64) {
        guard let deadline, now >= deadline else { return }
        multi.timedOut()
        afterwards()
    }

    /// Gives a request up; its connection may end with it.
    func cancel(_ transfer: Transfer) {
        guard transfer.isInFlight else { return }
        multi.remove(transfer)
        applySocketChanges()
    }

    /// Cancels what is in flight and closes the connections.
    func close() {
        multi.close()
        applySocketChanges()
    }

    private func afterwards() {
        applySocketChanges()
        while let (transfer, code) = multi.nextCompletion() { finished(transfer, code) }
    }

    private func applySocketChanges() {
        for change in multi.takeSocketChanges() {
            let known = change.wasClosed ? nil : sockets[change.descriptor]
            guard change.read || change.write else {
                if let known, !known.interest.contains(.write), multi.isOpen(change.descriptor) {
                    known.isIdle = true
                } else {
                    reactor.unwatch(change.descriptor)
                    sockets[change.descriptor] = nil
                }
                continue
            }
            let socket = known ?? CurlSocket(descriptor: change.descriptor, owner: self)
            sockets[change.descriptor] = socket
            var interest: Interest = .end
            if change.read { interest.insert(.read) }
            if change.write { interest.insert(.write) }
            socket.isIdle = false
            if socket.interest != interest { watch(socket, interest) }
        }
    }

    private func watch(_ socket: CurlSocket, _ interest: Interest) {
        socket.interest = interest
        // The kernel refuses only closed descriptors, of which libcurl's own time limits take care.
        try? reactor.watch(socket.descriptor, interest, socket)
    }

    /// Something came over an idle connection.
    ///
    /// libcurl looks at it before the next request; what matters until then is whether it was the end.
    private func idleSocketReady(_ socket: CurlSocket, _ readiness: Interest) {
        // Write was not asked for: it says that the connection is broken.
        if readiness.contains(.end) || readiness.contains(.write) {
            reactor.unwatch(socket.descriptor)
            sockets[socket.descriptor] = nil
            idleConnectionEnded()
        } else {
            // Bytes that nobody reads now would wake the loop for ever.
            watch(socket, .end)
        }
    }
}
