import CMicroHTTPD
import Reactor

/// One client's connection.
final class HTTP1Connection {
    let id: Int
    let descriptor: Int32
    var request: HTTP1Request?
    /// When it was made, or done with its last request, in nanoseconds.
    var since: Int64

    init(id: Int, descriptor: Int32, since: Int64) {
        self.id = id
        self.descriptor = descriptor
        self.since = since
    }
}

/// What the callbacks report to; it outlives the daemon.
final class HTTP1Shared {
    let settings: HTTP1Settings
    private(set) var connections: [Int: HTTP1Connection] = [:]
    /// Complete and not yet handed out.
    private(set) var complete: [HTTP1Request] = []
    /// Requests that were decided since libmicrohttpd last ran.
    var hasDecisions = false
    /// Descriptors that were closed and have to be forgotten by the reactor.
    var forget: (Int32) -> Void = { _ in }
    private(set) var lastConnectionID = 0
    private var lastRequestID = 0

    init(settings: HTTP1Settings) { self.settings = settings }

    var connectionCount: Int { connections.count }

    func opened(_ raw: OpaquePointer) -> HTTP1Connection {
        lastConnectionID += 1
        let connection = HTTP1Connection(
            id: lastConnectionID, descriptor: microhttpd_shim_descriptor(raw), since: Reactor.now)
        connections[lastConnectionID] = connection
        return connection
    }

    func closed(_ connection: HTTP1Connection) {
        finished(connection)
        // Comes before the descriptor is closed, so its number is not anybody else's yet.
        forget(connection.descriptor)
        connections[connection.id] = nil
    }

    func began(_ target: [UInt8], _ raw: OpaquePointer, on connection: HTTP1Connection) {
        lastRequestID += 1
        finished(connection)
        connection.request = HTTP1Request(
            id: lastRequestID, connectionID: connection.id, target: target, shared: self, raw: raw)
    }

    func finished(_ connection: HTTP1Connection) {
        connection.since = Reactor.now
        guard let request = connection.request else { return }
        request.isGone = true
        request.heldBody = nil
        connection.request = nil
        if request.isWatched {
            request.isWatched = false
            forget(connection.descriptor)
        }
    }

    func completed(_ request: HTTP1Request) {
        request.state = .waiting
        complete.append(request)
    }

    func takeComplete() -> [HTTP1Request] {
        guard !complete.isEmpty else { return [] }
        defer { complete = [] }
        return complete
    }

    /// The answer, or nil for closing the connection.
    func decide(_ request: HTTP1Request, _ response: HTTP1Response?) {
        guard request.state == .waiting, !request.isGone else { return }
        request.state = .decided
        request.response = response
        request.whenGone = nil
        hasDecisions = true
        // Its access callback is called again and finds the answer.
        MHD_resume_connection(request.raw)
    }

    func release(_ count: Int, of body: HeldBody, request: HTTP1Request) -> Bool {
        body.released = min(body.bytes.count, body.released + max(0, count))
        if body.isSuspended {
            body.isSuspended = false
            hasDecisions = true
            MHD_resume_connection(request.raw)
        }
        return body.released < body.bytes.count
    }

    /// Lets everybody go who is suspended, as libmicrohttpd demands before it ends.
    func resumeAll() {
        for connection in connections.values {
            guard let request = connection.request else { continue }
            if request.state == .waiting { decide(request, nil) }
            if let body = request.heldBody { _ = release(.max / 2, of: body, request: request) }
        }
    }
}
