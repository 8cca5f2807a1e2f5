/// A response but for its body: the status, what kind of body follows, and headers of its own.
struct AnswerHead: Hashable, Sendable {
    enum Content: Hashable, Sendable { case json, html }

    struct Field: Hashable, Sendable {
        /// Lower case.
        let name: String
        let value: String
    }

    let status: Int
    var content = Content.json
    /// The value of `www-authenticate`, when there is one.
    var challenge: String?
    /// Seconds in `retry-after`, when there is one.
    var retryAfter: Int?
    /// More headers, instead of those above where the names are the same.
    var extra: [Field] = []

    static let ok = AnswerHead(status: 200)

    /// All headers but `content-length`, names in lower case.
    func fields(at time: WallTime) -> [(name: String, value: String)] {
        var fields = [
            (
                name: "content-type",
                value: content == .json ? "application/json; charset=UTF-8" : "text/html; charset=UTF-8"
            ),
            (name: "date", value: time.httpDate),
            (name: "server", value: "fcm-emulator"),
        ]
        if let challenge { fields.append((name: "www-authenticate", value: challenge)) }
        if let retryAfter { fields.append((name: "retry-after", value: String(retryAfter))) }
        guard !extra.isEmpty else { return fields }
        fields.removeAll { field in extra.contains { $0.name == field.name } }
        return fields + extra.map { (name: $0.name, value: $0.value) }
    }
}
