/// What becomes of a `messages:send` request, faults of the network aside.
enum SendDecision {
    /// A valid message that would be sent; the range is the message within the body.
    case accept(Range<Int>)
    /// A valid message that was only to be looked at.
    case validated
    case refuse(SendRefusal)
}

/// An error answer to `messages:send`.
struct SendRefusal {
    let error: RPCError
    /// The value of `www-authenticate`, when there is one.
    var challenge: String?
    /// Seconds in `retry-after`, when there is one.
    var retryAfter: Int?

    var head: AnswerHead { AnswerHead(status: error.code, challenge: challenge, retryAfter: retryAfter) }

    /// FcmError's code, or else the status of google.rpc.
    var code: String {
        for case .fcmError(let code) in error.details { return code }
        return error.status
    }
}
