/// The last requests to `messages:send`.
struct MessageRing {
    /// How many are kept.
    static let capacity = 1000

    struct Entry {
        let record: RequestRecord
        let target: RedactedTarget?
    }

    private var entries: [Entry] = []
    private var next = 0

    mutating func append(_ entry: Entry) {
        if entries.count < Self.capacity {
            entries.append(entry)
        } else {
            entries[next] = entry
        }
        next = (next + 1) % Self.capacity
    }

    /// Those that fit, the latest last, at most so many.
    func last(_ count: Int, where fits: (Entry) -> Bool) -> [Entry] {
        var found: [Entry] = []
        for offset in 1...Self.capacity where offset <= entries.count {
            let entry = entries[(next - offset + entries.count) % entries.count]
            if fits(entry) { found.append(entry) }
            if found.count >= count { break }
        }
        return found.reversed()
    }
}
