import HTTP2

/// The header blocks of answers, each laid out once per second, since `date` is in them.
struct AnswerHeaders {
    private var second: Int64 = -1
    private var date = ""
    private var ok: HeaderBlock?
    private var others: [AnswerHead: HeaderBlock] = [:]

    /// The block for the head at this time.
    mutating func block(for head: AnswerHead, at time: WallTime) -> HeaderBlock {
        if time.seconds != second {
            second = time.seconds
            date = time.httpDate
            ok = nil
            others.removeAll(keepingCapacity: true)
        }
        if head == .ok {
            if let ok { return ok }
            let block = make(head)
            ok = block
            return block
        }
        if let known = others[head] { return known }
        let block = make(head)
        others[head] = block
        return block
    }

    private func make(_ head: AnswerHead) -> HeaderBlock {
        var fields = [
            (
                name: "content-type",
                value: head.content == .json ? "application/json; charset=UTF-8" : "text/html; charset=UTF-8"
            ),
            (name: "date", value: date),
            (name: "server", value: "fcm-emulator"),
        ]
        if let challenge = head.challenge { fields.append((name: "www-authenticate", value: challenge)) }
        if let seconds = head.retryAfter { fields.append((name: "retry-after", value: String(seconds))) }
        return HeaderBlock(status: head.status, fields: fields)
    }
}
