import Curl
import Reactor
import Testing

/// The smallest loop around one multi handle.
final class CurlLoop {
    let reactor: Reactor
    let multi: MultiHandle
    private var sockets: [Int32: Socket] = [:]
    /// In the order in which they ended.
    private(set) var completed: [(transfer: Transfer, code: CurlCode)] = []
    /// No test waits longer than this for the server.
    private let deadline = Reactor.now + 60_000_000_000

    init(maxStreams: Int = 100, maxConnections: Int = 1, connectsOnce: Bool = false) throws {
        try CurlLibrary.initialize()
        reactor = try Reactor()
        multi = try MultiHandle(
            maxStreamsPerConnection: maxStreams, maxConnections: maxConnections, connectsOnce: connectsOnce)
    }

    deinit {
        multi.close()
        for change in multi.takeSocketChanges() where !change.read && !change.write {
            reactor.unwatch(change.descriptor)
        }
    }

    private final class Socket: PollSource {
        let descriptor: Int32
        unowned let multi: MultiHandle

        init(_ descriptor: Int32, _ multi: MultiHandle) {
            self.descriptor = descriptor
            self.multi = multi
        }

        func ready(_ readiness: Interest) {
            multi.socketReady(
                descriptor, readable: readiness.contains(.read), writable: readiness.contains(.write))
        }
    }

    func turn() throws {
        try applySocketChanges()
        var limit = deadline
        if let timer = multi.deadline { limit = min(limit, timer) }
        try reactor.wait(atMostNanoseconds: max(0, limit - Reactor.now))
        try applySocketChanges()
        if let timer = multi.deadline, timer <= Reactor.now { multi.timedOut() }
        try applySocketChanges()
        while let (transfer, code) = multi.nextCompletion() { completed.append((transfer, code)) }
    }

    func run(until isDone: () -> Bool) throws {
        while !isDone() {
            try #require(Reactor.now < deadline, "the transfers hang")
            try turn()
        }
    }

    /// Adds the transfer and runs the loop until it has ended.
    func perform(_ transfer: Transfer) throws -> CurlCode {
        try multi.add(transfer)
        try run { !transfer.isInFlight }
        return try #require(transfer.code)
    }

    private func applySocketChanges() throws {
        for change in multi.takeSocketChanges() {
            guard change.read || change.write else {
                reactor.unwatch(change.descriptor)
                sockets[change.descriptor] = nil
                continue
            }
            let socket = (change.wasClosed ? nil : sockets[change.descriptor]) ?? Socket(change.descriptor, multi)
            sockets[change.descriptor] = socket
            var interest: Interest = []
            if change.read { interest.insert(.read) }
            if change.write { interest.insert(.write) }
            try reactor.watch(change.descriptor, interest, socket)
        }
    }
}
