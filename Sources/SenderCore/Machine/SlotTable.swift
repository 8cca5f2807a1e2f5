/// The streams, and which message is on which.
struct SlotTable: Sendable {
    struct Entry: Sendable {
        let held: HeldMessage
        let app: Int
        let postedAt: Int64
        /// Which access token the post carries.
        let tokenGeneration: Int
    }

    private var entries: [Entry?]
    private var free: [Int]
    private(set) var inFlight = 0

    init(count: Int) {
        entries = Array(repeating: nil, count: count)
        free = Array((0..<count).reversed())
    }

    var hasFree: Bool { !free.isEmpty }

    /// Puts the entry on a free stream.
    mutating func occupy(_ entry: Entry) -> Int? {
        guard let slot = free.popLast() else { return nil }
        entries[slot] = entry
        inFlight += 1
        return slot
    }

    /// Takes the entry off its stream; `nil` when the stream was free.
    mutating func vacate(_ slot: Int) -> Entry? {
        guard entries.indices.contains(slot), let entry = entries[slot].take() else { return nil }
        free.append(slot)
        inFlight -= 1
        return entry
    }
}
