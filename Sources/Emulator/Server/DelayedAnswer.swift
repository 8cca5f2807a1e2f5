import HTTP2

/// An answer that waits for its time; the stream may be gone by then, which its id tells.
struct DelayedAnswer {
    let connection: ServerConnection
    let stream: ServerStream
    let streamID: Int32
    let head: AnswerHead
    let body: [UInt8]
}
