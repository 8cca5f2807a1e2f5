/// A count for each of many things, in memory that does not grow with them.
///
/// Sets of four, the latest used first. A thing that falls out of its set, after some hundred thousand others, begins
/// at 0 again: what is counted once is always right, and so is what comes again soon.
struct CountTable {
    private static let ways = 4
    private static let setBits: UInt64 = 18
    private static let countBits: UInt64 = 24

    /// The upper bits of the hash and the count; 0 is free.
    ///
    /// Made at the first use: 8 MiB.
    private var entries: [UInt64] = []

    /// The count before this call, which adds one.
    mutating func next(_ hash: UInt64) -> Int { change(hash, by: 1) }

    /// The count.
    mutating func current(_ hash: UInt64) -> Int { change(hash, by: 0) }

    private mutating func change(_ hash: UInt64, by step: UInt64) -> Int {
        if entries.isEmpty { entries = Array(repeating: 0, count: Self.ways << Int(Self.setBits)) }
        let first = Int(hash & (1 << Self.setBits - 1)) * Self.ways
        let most: UInt64 = 1 << Self.countBits - 1
        // Never 0, which marks a free place.
        let tag = max(hash >> Self.countBits, 1)
        var place = first
        while place < first + Self.ways - 1, entries[place] >> Self.countBits != tag { place += 1 }
        let count = entries[place] >> Self.countBits == tag ? entries[place] & most : 0
        while place > first {
            entries[place] = entries[place - 1]
            place -= 1
        }
        entries[first] = tag << Self.countBits | min(count + step, most)
        return Int(count)
    }
}
