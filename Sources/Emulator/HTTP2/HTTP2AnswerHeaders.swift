import HTTP2

/// The header blocks of answers, each laid out once per second, since `date` is in them.
final class HTTP2AnswerHeaders {
    /// More heads than any scenario has; a head with something of its own in each answer must not fill the memory.
    private static let mostKept = 256

    private var second: Int64 = -1
    private var ok: HeaderBlock?
    private var others: [AnswerHead: HeaderBlock] = [:]

    /// The block for the head at this time.
    func block(for head: AnswerHead, at time: WallTime) -> HeaderBlock {
        if time.seconds != second || others.count >= Self.mostKept {
            second = time.seconds
            ok = nil
            others.removeAll(keepingCapacity: true)
        }
        if head == .ok {
            if let ok { return ok }
            let block = HeaderBlock(status: head.status, fields: head.fields(at: time))
            ok = block
            return block
        }
        if let known = others[head] { return known }
        let block = HeaderBlock(status: head.status, fields: head.fields(at: time))
        others[head] = block
        return block
    }
}
