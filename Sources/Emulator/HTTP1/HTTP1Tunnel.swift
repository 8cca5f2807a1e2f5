import HTTP2
import Reactor

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A client's HTTP/1.1 connection: carries plain bytes between its TLS connection and a socket of libmicrohttpd.
final class HTTP1Tunnel: EmulatedConnection {
    let id: Int
    let raw: ServerConnection
    /// Our end of the pair; libmicrohttpd has the other.
    let inner: Int32
    /// The latest answer announced the end.
    private(set) var isClosing = false
    var lastTicket = 0
    var decidedTicket = 0
    private var toServer: [UInt8] = []
    private var toClient: [UInt8] = []
    private var hasClientEnded = false
    private var hasServerEnded = false
    private let buffer: UnsafeMutableRawBufferPointer
    private let reactor: Reactor
    private let onEnd: (HTTP1Tunnel) -> Void
    private var outerSource: CallbackSource?
    private var innerSource: CallbackSource?
    private var outerInterest: Interest?
    private var innerInterest: Interest?
    private var isOver = false

    /// - Parameters:
    ///   - buffer: shared with others: nothing stays in it.
    ///   - onEnd: both sides are closed and unwatched.
    init(
        _ raw: ServerConnection, id: Int, inner: Int32, buffer: UnsafeMutableRawBufferPointer, reactor: Reactor,
        onEnd: @escaping (HTTP1Tunnel) -> Void
    ) {
        self.raw = raw
        self.id = id
        self.inner = inner
        self.buffer = buffer
        self.reactor = reactor
        self.onEnd = onEnd
        // They go with the watches, at the tunnel's end.
        outerSource = CallbackSource { [unowned self] in carry() }
        innerSource = CallbackSource { [unowned self] in carry() }
    }

    var isHTTP2: Bool { false }

    func goAway(lastTicket: Int, debugData: [UInt8]) { isClosing = true }
    func limitStreams(to count: Int) {}

    func reset(by reset: Reset) {
        switch reset {
        case .fin: raw.reset(by: .fin)
        case .rst: raw.reset(by: .rst)
        case .silent: raw.reset(by: .silent)
        }
        toClient.removeAll()
        watch()
    }

    /// Moves what can be moved, both ways, and settles what is waited for next.
    func carry() {
        guard !isOver else { return }
        if raw.phase == .plain {
            carryToServer()
            carryToClient()
        } else if raw.phase == .silent {
            // Only the client's end is waited for: nobody is left to be silent to.
            raw.closeNow()
        } else {
            _ = raw.receive()
        }
        watch()
    }

    private func carryToServer() {
        while !hasClientEnded {
            if !toServer.isEmpty {
                let count = toServer.withUnsafeBytes { send(inner, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if count > 0 {
                    toServer.removeFirst(count)
                } else if errno == EAGAIN || errno == EINTR {
                    return
                } else {
                    // The other end is closed: what the client still sends is thrown away.
                    toServer.removeAll()
                }
                continue
            }
            guard let count = raw.readPlain(into: buffer) else {
                hasClientEnded = true
                _ = shutdown(inner, Int32(SHUT_WR))
                return
            }
            if count == 0 { return }
            toServer.append(contentsOf: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
        }
    }

    private func carryToClient() {
        while raw.phase == .plain {
            if !toClient.isEmpty {
                let count = toClient.withUnsafeBytes { raw.writePlain($0) }
                if count == 0 { return }
                toClient.removeFirst(count)
                continue
            }
            if hasServerEnded { return raw.endPlain() }
            let count = recv(inner, buffer.baseAddress, buffer.count, 0)
            if count < 0 && (errno == EAGAIN || errno == EINTR) { return }
            guard count > 0 else {
                hasServerEnded = true
                continue
            }
            toClient.append(contentsOf: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
        }
    }

    /// Watches both sockets for what is needed from them.
    func watch() {
        guard !isOver else { return }
        switch raw.phase {
        case .plain: break
        case .draining, .handshaking, .open:
            settle(nil, &innerInterest, inner, innerSource)
            return settle(.read, &outerInterest, raw.descriptor, outerSource)
        case .silent:
            settle(nil, &innerInterest, inner, innerSource)
            return settle(.end, &outerInterest, raw.descriptor, outerSource)
        case .closed: return end()
        }
        var outer: Interest = toServer.isEmpty && !hasClientEnded ? .read : []
        if !toClient.isEmpty { outer.insert(.write) }
        var innerWanted: Interest = toClient.isEmpty ? .read : []
        if !toServer.isEmpty { innerWanted.insert(.write) }
        // A hang-up is reported whatever is waited for: nothing to wait for is no watch.
        settle(outer.isEmpty ? nil : outer, &outerInterest, raw.descriptor, outerSource)
        settle(innerWanted.isEmpty ? nil : innerWanted, &innerInterest, inner, innerSource)
    }

    private func settle(_ wanted: Interest?, _ current: inout Interest?, _ descriptor: Int32, _ source: CallbackSource?)
    {
        guard wanted != current, let source else { return }
        current = wanted
        if let wanted {
            if (try? reactor.watch(descriptor, wanted, source)) == nil { current = nil }
        } else {
            reactor.unwatch(descriptor)
        }
    }

    /// Closes both sides, once.
    func end() {
        guard !isOver else { return }
        isOver = true
        reactor.unwatch(inner)
        reactor.unwatch(raw.descriptor)
        _ = close(inner)
        raw.release()
        outerSource = nil
        innerSource = nil
        onEnd(self)
    }
}
