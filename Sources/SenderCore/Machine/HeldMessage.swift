import Queue

/// A claimed message with this sender's own times and counts.
struct HeldMessage: Sendable {
    let message: ClaimedMessage
    /// Monotonic time at which the lease ends, judged early.
    let leaseEnds: Int64
    /// Monotonic time at which the message expires.
    let expires: Int64?
    var unknownOutcomes = 0
    var refusedTokens = 0
    var requeues = 0
}

/// First in, first out, with a way to put one back in front; amortised constant time.
struct HeldQueue: Sendable {
    private var items: [HeldMessage] = []
    private var head = 0

    var count: Int { items.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ item: HeldMessage) { items.append(item) }

    mutating func prepend(_ item: HeldMessage) {
        if head > 0 {
            head -= 1
            items[head] = item
        } else {
            items.insert(item, at: 0)
        }
    }

    mutating func popFirst() -> HeldMessage? {
        guard head < items.count else { return nil }
        let item = items[head]
        head += 1
        if head == items.count || head > 1_024 {
            items.removeFirst(head)
            head = 0
        }
        return item
    }

    mutating func removeAll() -> [HeldMessage] {
        let rest = Array(items[head...])
        items.removeAll(keepingCapacity: true)
        head = 0
        return rest
    }
}
