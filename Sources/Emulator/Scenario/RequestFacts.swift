/// What a rule may look at.
struct RequestFacts {
    enum Endpoint { case send, token }

    let endpoint: Endpoint
    /// Token, FID, topic or condition; nil when the message was not read as far as that.
    var target: String?
    /// The one in the path; empty for the token endpoint.
    var project: ArraySlice<UInt8> = []
    /// The message would be accepted.
    var isValid = false
    /// A header by its lower-case name.
    var header: (String) -> [UInt8]? = { _ in nil }
    /// Seconds since the start or the last reset.
    let elapsed: Double
}
