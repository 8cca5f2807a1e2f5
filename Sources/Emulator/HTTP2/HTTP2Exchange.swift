import HTTP2

/// A stream as the service sees it; used again with its stream.
final class HTTP2Exchange: Exchange {
    private let stream: ServerStream
    private let owner: HTTP2Connection

    init(_ stream: ServerStream, of owner: HTTP2Connection) {
        self.stream = stream
        self.owner = owner
    }

    var method: [UInt8] { stream.method }
    var path: [UInt8] { stream.path }
    var authorization: [UInt8] { stream.authorization }
    var body: [UInt8] { stream.body }
    var isBodyCut: Bool { stream.isBodyCut }
    var connection: any EmulatedConnection { owner }
    var ticket: Int { Int(stream.id) }

    func header(_ lowerCaseName: String) -> [UInt8]? { stream.header(lowerCaseName) }

    func answer(_ head: AnswerHead, _ body: [UInt8], at time: WallTime, releasing count: Int) {
        guard stream.id != 0 else { return }
        // A copy into the stream's own memory, which is there from its earlier requests.
        stream.setResponseBody(body)
        owner.raw.respond(to: stream, headers: owner.headers.block(for: head, at: time), releasing: count)
        owner.touch()
    }

    func release(_ count: Int) -> Bool {
        guard stream.id != 0 else { return false }
        owner.touch()
        return owner.raw.release(count, of: stream)
    }

    func cut(_ cut: StreamCut) {
        switch cut {
        case .refused: owner.raw.reset(stream, code: ServerConnection.refusedStream)
        case .reset(let code): owner.raw.reset(stream, code: code)
        }
        owner.touch()
    }
}
