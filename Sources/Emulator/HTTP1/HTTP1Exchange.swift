import HTTP1

/// A request that came by HTTP/1.1, as the service sees it.
final class HTTP1Exchange: Exchange {
    private let request: HTTP1Request
    private let tunnel: HTTP1Tunnel
    private let onAnswer: () -> Void

    init(_ request: HTTP1Request, by tunnel: HTTP1Tunnel, onAnswer: @escaping () -> Void) {
        self.request = request
        self.tunnel = tunnel
        self.onAnswer = onAnswer
    }

    var method: [UInt8] { request.method }
    var path: [UInt8] { request.target }
    var authorization: [UInt8] { request.header("authorization") ?? [] }
    var body: [UInt8] { request.body }
    var isBodyCut: Bool { request.isBodyCut }
    var connection: any EmulatedConnection { tunnel }
    var ticket: Int { request.isGone ? 0 : request.id }

    func header(_ lowerCaseName: String) -> [UInt8]? { request.header(lowerCaseName) }

    func answer(_ head: AnswerHead, _ body: [UInt8], at time: WallTime, releasing count: Int) {
        var response = HTTP1Response(status: head.status, headers: head.fields(at: time), body: body)
        response.releasedBytes = count
        response.closesConnection = tunnel.isClosing
        request.respond(response)
        onAnswer()
    }

    func release(_ count: Int) -> Bool { request.release(count) }

    /// There are no streams to end: the connection is reset, which leaves the outcome unknown to the client.
    func cut(_ cut: StreamCut) {
        tunnel.reset(by: .rst)
        request.cut()
        onAnswer()
    }
}
