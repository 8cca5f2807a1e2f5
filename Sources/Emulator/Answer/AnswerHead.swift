/// A response but for its body: the status, what kind of body follows, and headers of its own.
struct AnswerHead: Hashable, Sendable {
    enum Content: Hashable, Sendable { case json, html }

    let status: Int
    var content = Content.json
    /// The value of `www-authenticate`, when there is one.
    var challenge: String?
    /// Seconds in `retry-after`, when there is one.
    var retryAfter: Int?

    static let ok = AnswerHead(status: 200)
}
