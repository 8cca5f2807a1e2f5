/// First in, first out, with a way to put one back in front: a ring that keeps nothing of what was taken.
struct HeldQueue: Sendable {
    private var items: [HeldMessage?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var first: HeldMessage? { isEmpty ? nil : items[head] }

    mutating func append(_ item: HeldMessage) {
        makeRoom()
        items[(head + count) & (items.count - 1)] = item
        count += 1
    }

    mutating func prepend(_ item: HeldMessage) {
        makeRoom()
        head = (head - 1) & (items.count - 1)
        items[head] = item
        count += 1
    }

    mutating func popFirst() -> HeldMessage? {
        guard count > 0 else { return nil }
        let item = items[head].take()
        head = (head + 1) & (items.count - 1)
        count -= 1
        return item
    }

    /// Takes out those that the condition holds for, in order; the others stay in theirs.
    mutating func removeAll(where condition: (HeldMessage) -> Bool) -> [HeldMessage] {
        var removed: [HeldMessage] = []
        for _ in 0..<count {
            guard let item = popFirst() else { break }
            if condition(item) { removed.append(item) } else { append(item) }
        }
        return removed
    }

    /// The size is a power of two, so that positions wrap by a mask.
    private mutating func makeRoom() {
        guard count == items.count else { return }
        let whole = items.isEmpty ? [] : Array(items[head...] + items[..<head])
        items = whole + Array(repeating: nil, count: max(16, whole.count))
        head = 0
    }
}
