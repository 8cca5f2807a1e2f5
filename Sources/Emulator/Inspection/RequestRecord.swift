/// What became of one request, as the service tells the inspector at the moment when it is decided.
struct RequestRecord {
    enum Endpoint: Sendable { case send, token, other }

    enum Outcome: String, Sendable, CaseIterable { case accepted, validated, refused, faulted }

    var endpoint: Endpoint
    var outcome: Outcome
    /// FCM's error code or else the RPC status of a refusal, a fault's name, or nothing.
    var code = ""
    /// 0 when there is no answer.
    var status: Int
    /// Seconds in the answer's `retry-after`.
    var retryAfter: Int?
    /// Nanoseconds until the answer goes out.
    var delay: Int64 = 0
    var connectionID: Int
    var isHTTP2 = true
    /// Nanoseconds of the monotonic clock.
    var time: Int64
}
