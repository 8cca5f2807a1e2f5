/// What happens to a request.
///
/// An effect either ends the request, or changes something about it and lets later rules go on.
enum Effect: Sendable {
    case answer(MadeUpAnswer, When)
    case latency(Latency)
    /// No answer, for ever.
    case stall(When)
    /// The body of the answer goes out so many bytes at a time, with so many nanoseconds between.
    case drip(bytes: Int, every: Int64)
    /// RST_STREAM with this code.
    case resetStream(code: UInt32, When)
    case resetConnection(Reset, When)
    case refuseStream
    case goAway(LastStream, debugData: [UInt8])
    /// SETTINGS_MAX_CONCURRENT_STREAMS; the usual number comes back after so many nanoseconds, if at all.
    case limitStreams(Int, for: Int64?)

    /// Whether the message was accepted when it happens: the two cases of an unknown outcome.
    enum When: String, CaseIterable, Sendable {
        case beforeAccept = "before_accept"
        case afterAccept = "after_accept"
    }

    /// Which request GOAWAY names as the last one that is processed.
    enum LastStream: String, CaseIterable, Sendable {
        /// This one, which is answered.
        case this
        /// The one before, so that this one is not processed.
        case previous
        case zero
    }

    /// As it stands in records and counts.
    var name: String {
        switch self {
        case .answer(let answer, _): answer.name
        case .latency: "latency"
        case .stall: "stall"
        case .drip: "drip"
        case .resetStream: "reset_stream"
        case .resetConnection: "reset_connection"
        case .refuseStream: "refuse_stream"
        case .goAway: "goaway"
        case .limitStreams: "settings"
        }
    }

    /// Whether nothing that the emulator would answer itself reaches the client, and later rules do not count.
    var endsRequest: Bool {
        switch self {
        case .answer, .stall, .resetStream, .resetConnection, .refuseStream: true
        case .goAway(let last, _): last != .this
        case .latency, .drip, .limitStreams: false
        }
    }
}

/// An answer that a scenario puts in the place of the true one.
struct MadeUpAnswer: Equatable, Sendable {
    /// The name of the error, or `status`.
    let name: String
    let head: AnswerHead
    let body: [UInt8]
}
