import Curl
import Reactor

/// One of libcurl's sockets in the reactor.
final class CurlSocket: PollSource {
    private let descriptor: Int32
    private unowned let owner: CurlDriver

    init(descriptor: Int32, owner: CurlDriver) {
        self.descriptor = descriptor
        self.owner = owner
    }

    func ready(_ readiness: Interest) {
        owner.socketReady(descriptor, readable: readiness.contains(.read), writable: readiness.contains(.write))
    }
}

/// Drives one multi handle from the reactor: its sockets, its timer, and what it finished.
final class CurlDriver {
    let multi: MultiHandle
    private let reactor: Reactor
    private var sockets: [Int32: CurlSocket] = [:]
    /// Told of every transfer that ended.
    var finished: (Transfer, CurlCode) -> Void = { _, _ in }

    init(reactor: Reactor, streams: Int) throws(CurlError) {
        self.reactor = reactor
        multi = try MultiHandle(maxStreamsPerConnection: streams, maxConnections: 1)
    }

    /// When libcurl's own timer is to be served.
    var deadline: Int64? { multi.deadline }

    func socketReady(_ descriptor: Int32, readable: Bool, writable: Bool) {
        multi.socketReady(descriptor, readable: readable, writable: writable)
        afterwards()
    }

    /// Serves the timer when it is time; libcurl starts new transfers there.
    func turn(now: Int64) {
        guard let deadline = multi.deadline, now >= deadline else { return }
        multi.timedOut()
        afterwards()
    }

    private func afterwards() {
        for change in multi.takeSocketChanges() {
            guard change.read || change.write else {
                reactor.unwatch(change.descriptor)
                sockets[change.descriptor] = nil
                continue
            }
            let socket = sockets[change.descriptor] ?? CurlSocket(descriptor: change.descriptor, owner: self)
            sockets[change.descriptor] = socket
            var interest: Interest = []
            if change.read { interest.insert(.read) }
            if change.write { interest.insert(.write) }
            // The kernel refuses only closed descriptors, of which libcurl's own time limits take care.
            try? reactor.watch(change.descriptor, interest, socket)
        }
        while let (transfer, code) = multi.nextCompletion() { finished(transfer, code) }
    }
}
