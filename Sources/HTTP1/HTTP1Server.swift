import CMicroHTTPD
import Glibc
package import Reactor

/// An HTTP/1.1 server on somebody else's loop: connections in, requests out, answers at any time later.
///
/// The loop calls `receive` and then `flush` in each turn, and sleeps no longer than `delay`. libmicrohttpd parses, keeps
/// connections alive, reads chunked bodies and answers `Expect`; nothing is decided in its callbacks. Not `Sendable`.
package final class HTTP1Server {
    private let daemon: OpaquePointer
    private let shared: HTTP1Shared
    private let reactor: Reactor
    private let descriptor: Int32
    private let source = EventSource()
    private let onRequest: (HTTP1Request) -> Void
    /// Requests that wait for their answer and whose sockets are not watched yet.
    private var unwatched: [HTTP1Request] = []
    private var nextSweep: Int64 = 0
    private var isClosed = false

    /// - Parameter onRequest: gets each complete request, from `receive`, in the order of completion.
    package init(
        reactor: Reactor, settings: HTTP1Settings, onRequest: @escaping (HTTP1Request) -> Void
    ) throws(HTTP1Error) {
        let shared = HTTP1Shared(settings: settings)
        var calls = microhttpd_shim_callbacks(
            context: Unmanaged.passUnretained(shared).toOpaque(), access: requestArrived, completed: requestCompleted,
            connection: connectionChanged, uri: requestBegan)
        guard
            let daemon = microhttpd_shim_start(
                &calls, UInt32(clamping: settings.idleSeconds), UInt32(clamping: settings.maxConnections),
                settings.maxHeadBytes)
        else { throw HTTP1Error(message: "no HTTP/1.1 server: \(String(cString: strerror(errno)))") }
        let descriptor = microhttpd_shim_epoll_descriptor(daemon)
        do {
            try reactor.watch(descriptor, .read, source)
        } catch {
            MHD_stop_daemon(daemon)
            throw HTTP1Error(message: "no HTTP/1.1 server: \(error)")
        }
        self.daemon = daemon
        self.shared = shared
        self.reactor = reactor
        self.descriptor = descriptor
        self.onRequest = onRequest
        shared.forget = { [unowned reactor] in reactor.unwatch($0) }
    }

    deinit { close() }

    /// Open now.
    package var connectionCount: Int { shared.connectionCount }

    /// Takes over a connected socket, also when it has no room for it and closes it: nil then, or the connection's id.
    @discardableResult
    package func add(_ socket: Int32) -> Int? {
        guard !isClosed else {
            _ = Glibc.close(socket)
            return nil
        }
        var address = sockaddr_storage()
        var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = getpeername(socket, $0, &count)
                return MHD_add_connection(daemon, socket, $0, count)
            }
        }
        source.isReady = true
        return result == .YES ? shared.lastConnectionID : nil
    }

    /// Reads what has come, and hands out the requests that are complete.
    package func receive() {
        guard !isClosed else { return }
        let now = Reactor.now
        if source.isReady || shared.hasDecisions || isDue { run() }
        sweep(now: now)
        for request in shared.takeComplete() {
            onRequest(request)
            if request.state == .waiting { unwatched.append(request) }
        }
    }

    /// Sends the answers that were given.
    package func flush() {
        guard !isClosed else { return }
        if shared.hasDecisions { run() }
        guard !unwatched.isEmpty else { return }
        for request in unwatched where request.state == .waiting && !request.isGone { watchLeaving(request) }
        unwatched.removeAll(keepingCapacity: true)
    }

    /// Nanoseconds until it wants another turn; nil when only sockets matter.
    package func delay(now: Int64) -> Int64? {
        guard !isClosed else { return nil }
        if shared.hasDecisions || source.isReady || !shared.complete.isEmpty { return 0 }
        var delay: Int64?
        var milliseconds: UInt64 = 0
        if MHD_get_timeout(daemon, &milliseconds) == .YES { delay = Int64(clamping: milliseconds) * 1_000_000 }
        if connectionCount > 0 { delay = min(delay ?? .max, max(0, nextSweep - now)) }
        return delay
    }

    /// Ends it: what is unanswered stays so, and every connection is closed.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        shared.resumeAll()
        reactor.unwatch(descriptor)
        MHD_stop_daemon(daemon)
        unwatched = []
    }

    private var isDue: Bool {
        var milliseconds: UInt64 = 0
        return MHD_get_timeout(daemon, &milliseconds) == .YES && milliseconds == 0
    }

    private func run() {
        source.isReady = false
        shared.hasDecisions = false
        MHD_run(daemon)
    }

    /// Ends connections whose request takes too long to come, or never will; idle ones are libmicrohttpd's own business.
    private func sweep(now: Int64) {
        guard now >= nextSweep else { return }
        nextSweep = now + 1_000_000_000
        let limit = Int64(shared.settings.idleSeconds + shared.settings.requestSeconds) * 1_000_000_000
        for connection in shared.connections.values {
            switch connection.request?.state {
            case nil, .reading:
                // Edge-triggered, libmicrohttpd 0.9.75 misses an end that came together with the bytes before it.
                guard now - connection.since > limit || SocketEnd.hasCome(connection.descriptor) else { continue }
                _ = shutdown(connection.descriptor, Int32(SHUT_RDWR))
            case .sending:
                guard let seconds = shared.settings.responseSeconds, let since = connection.request?.sendingSince,
                    now - since > Int64(seconds) * 1_000_000_000
                else { continue }
                _ = shutdown(connection.descriptor, Int32(SHUT_RDWR))
            case .waiting, .decided: break
            }
        }
    }

    /// libmicrohttpd does not look at a suspended connection, so its end is looked for here.
    private func watchLeaving(_ request: HTTP1Request) {
        let descriptor = microhttpd_shim_descriptor(request.raw)
        let source = LeavingSource(request: request, descriptor: descriptor, shared: shared)
        request.isWatched = (try? reactor.watch(descriptor, .end, source)) != nil
    }
}

/// libmicrohttpd's own epoll descriptor.
private final class EventSource: PollSource {
    var isReady = false
    func ready(_ readiness: Interest) { isReady = true }
}

/// The socket of a client that waits for its answer.
private final class LeavingSource: PollSource {
    private let request: HTTP1Request
    private let descriptor: Int32
    private let shared: HTTP1Shared

    init(request: HTTP1Request, descriptor: Int32, shared: HTTP1Shared) {
        self.request = request
        self.descriptor = descriptor
        self.shared = shared
    }

    func ready(_ readiness: Interest) {
        request.isWatched = false
        shared.forget(descriptor)
        guard request.state == .waiting, !request.isGone else { return }
        let whenGone = request.whenGone
        shared.decide(request, nil)
        request.isGone = true
        whenGone?()
    }
}

/// Whether the other side of a socket has ended, with nothing left to read.
private enum SocketEnd {
    static func hasCome(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
    }
}
