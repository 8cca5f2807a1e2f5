/// One request and the one way to answer it, whichever version of HTTP it came by.
///
/// The service knows only this and `EmulatedConnection`. An object may serve one request after another: whoever keeps
/// it beyond `EmulatedService.handle` keeps its `ticket` too, and gives up when the two differ.
protocol Exchange: AnyObject {
    var method: [UInt8] { get }
    /// The path with its query, as sent.
    var path: [UInt8] { get }
    var authorization: [UInt8] { get }
    var body: [UInt8] { get }
    /// The body was longer than the server takes, and cut.
    var isBodyCut: Bool { get }
    var connection: any EmulatedConnection { get }

    /// Names the request among those of its connection, above 0 (the stream's id on HTTP/2).
    ///
    /// 0 once the answer is out or the client has left.
    var ticket: Int { get }

    /// A header of the request by its lower-case name; kept only while `EmulatedService.needsHeaders`.
    func header(_ lowerCaseName: String) -> [UInt8]?

    /// Queues the answer; nothing happens when the client has left.
    ///
    /// - Parameters:
    ///   - time: for `date`, skewed or not.
    ///   - count: how many bytes of the body may go out at once; `release` lets the others follow.
    func answer(_ head: AnswerHead, _ body: [UInt8], at time: WallTime, releasing count: Int)

    /// Lets so many more bytes of the answer's body go out; true while some are still held.
    func release(_ count: Int) -> Bool

    /// Ends the request without an answer. On HTTP/1.1 every cut resets the connection.
    func cut(_ cut: StreamCut)
}

extension Exchange {
    /// Queues the answer with its whole body.
    func answer(_ head: AnswerHead, _ body: [UInt8], at time: WallTime) {
        answer(head, body, at: time, releasing: .max)
    }
}

/// How a request is ended without an answer.
enum StreamCut: Equatable, Sendable {
    /// RST_STREAM with REFUSED_STREAM: it was not processed.
    case refused
    /// RST_STREAM with this code of RFC 9113 §7: it may have been processed.
    case reset(code: UInt32)
}
