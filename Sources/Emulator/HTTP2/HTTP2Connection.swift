import HTTP2

/// A client's HTTP/2 connection as the service sees it.
final class HTTP2Connection: EmulatedConnection {
    let id: Int
    let raw: ServerConnection
    let headers: HTTP2AnswerHeaders
    /// Called once a turn when there is something to flush, or the connection has ended.
    var onTouch: () -> Void = {}
    /// It is already in the list of this turn.
    var isTouched = false
    /// By the index of their streams.
    ///
    /// Each holds this connection: `release` breaks the circle.
    private var exchanges: [HTTP2Exchange] = []

    init(_ raw: ServerConnection, id: Int, headers: HTTP2AnswerHeaders) {
        self.raw = raw
        self.id = id
        self.headers = headers
    }

    var isHTTP2: Bool { true }
    var lastTicket: Int { Int(raw.lastRequestID) }
    var decidedTicket = 0

    /// The next complete request.
    func nextExchange() -> HTTP2Exchange? {
        guard let stream = raw.nextRequest() else { return nil }
        // Streams are numbered without gaps, but come in the order in which their requests are complete.
        while exchanges.count <= stream.index {
            exchanges.append(HTTP2Exchange(raw.streams[exchanges.count], of: self))
        }
        return exchanges[stream.index]
    }

    func touch() {
        guard !isTouched else { return }
        isTouched = true
        onTouch()
    }

    func reset(by reset: Reset) {
        switch reset {
        case .fin: raw.reset(by: .fin)
        case .rst: raw.reset(by: .rst)
        case .silent: raw.reset(by: .silent)
        }
        touch()
    }

    func goAway(lastTicket: Int, debugData: [UInt8]) {
        raw.goAway(lastStreamID: Int32(clamping: lastTicket), debugData: debugData)
        touch()
    }

    func limitStreams(to count: Int) {
        raw.limitStreams(to: count)
        touch()
    }

    /// Closes the descriptor; call it when the descriptor is no longer watched.
    func release() {
        raw.release()
        exchanges.removeAll()
        onTouch = {}
    }
}
