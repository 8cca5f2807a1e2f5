/// Time that passes only when the next thing is due: what happens at one moment happens in the order it was asked for.
struct VirtualClock {
    typealias Deed = () -> Void

    private struct Entry {
        let time: Int64
        let number: Int
        let deed: Deed

        func isBefore(_ other: Entry) -> Bool {
            time < other.time || (time == other.time && number < other.number)
        }
    }

    static let second: Int64 = 1_000_000_000
    static let millisecond: Int64 = 1_000_000

    /// Monotonic nanoseconds, the same for all senders: they run on machines whose clocks tick alike.
    private(set) var now: Int64
    /// A binary heap, the earliest first.
    private var entries: [Entry] = []
    private var number = 0

    init(now: Int64) { self.now = now }

    mutating func at(_ time: Int64, _ deed: @escaping Deed) {
        number += 1
        entries.append(Entry(time: max(time, now), number: number, deed: deed))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].isBefore(entries[parent]) else { break }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// The next thing to do, at whose time it is from now on; `nil` when there is none before the limit.
    mutating func next(before limit: Int64) -> Deed? {
        guard let first = entries.first, first.time < limit else { return nil }
        now = first.time
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return first.deed
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].isBefore(entries[earliest]) { earliest = child }
            guard earliest != parent else { return }
            entries.swapAt(parent, earliest)
            parent = earliest
        }
    }
}
