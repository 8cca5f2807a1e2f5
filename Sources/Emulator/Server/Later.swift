/// Something that is done to an exchange when its time has come.
enum Later {
    case answer(AnswerHead, [UInt8], Drip?)
    case end(RequestEnd)
    /// Some more bytes of an answer that drips.
    case drip(Drip)
}

/// How slowly a body goes out.
struct Drip: Sendable {
    let bytes: Int
    /// Nanoseconds.
    let every: Int64
}

/// How a request ends without an answer.
enum RequestEnd: Sendable {
    case cut(StreamCut)
    case reset(Reset)
}
