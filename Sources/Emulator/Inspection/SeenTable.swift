/// Which fingerprints were seen, and which of them more than once, up to a number of them; 8 bytes a slot.
///
/// Open addressing in 256 segments that grow one by one, so that growing never takes long. When a segment is full, new
/// fingerprints are no longer kept, and the counts become lower bounds.
struct SeenTable {
    /// The most that can be asked for: 128 MiB.
    static let mostCapacity = 12_000_000

    /// Slots of each of the 256 segments at most, a power of two; three quarters of them are used.
    private let mostSlots: Int
    private var segments = [Segment](repeating: Segment(), count: 256)
    private(set) var distinct = 0
    /// How many were seen at least twice.
    private(set) var repeated = 0
    /// False when some were not kept.
    private(set) var isExact = true

    /// - Parameter capacity: how many are kept at least.
    init(capacity: Int) {
        // Segments fill by chance, so each has room for a few more than its share.
        let share = min(capacity, Self.mostCapacity) / 256
        let wanted = (share + share / 50 + 32) * 4 / 3
        var slots = 64
        while slots < wanted { slots *= 2 }
        mostSlots = slots
    }

    /// Takes one in; true when it was there already.
    @discardableResult
    mutating func insert(_ fingerprint: Fingerprint) -> Bool {
        let segment = Int(truncatingIfNeeded: fingerprint.value >> 56)
        switch segments[segment].insert(max(fingerprint.value & ~1, 2), mostSlots: mostSlots) {
        case .new: distinct += 1
        case .full: isExact = false
        case .second:
            repeated += 1
            return true
        case .known: return true
        }
        return false
    }
}

/// One part of the table, by the highest byte of the fingerprint.
private struct Segment {
    enum Insertion { case new, second, known, full }

    /// 0 is free; the lowest bit says that it was seen again.
    private var slots: [UInt64] = []
    private var used = 0

    mutating func insert(_ key: UInt64, mostSlots: Int) -> Insertion {
        if slots.isEmpty { slots = [UInt64](repeating: 0, count: min(64, mostSlots)) }
        var position = place(of: key)
        if slots[position] == 0 {
            if used >= slots.count / 4 * 3 {
                guard slots.count < mostSlots else { return .full }
                grow()
                position = place(of: key)
            }
            slots[position] = key
            used += 1
            return .new
        }
        guard slots[position] & 1 == 0 else { return .known }
        slots[position] |= 1
        return .second
    }

    /// Where the key is, or the free slot where it belongs; a quarter of the slots is always free.
    private func place(of key: UInt64) -> Int {
        let mask = slots.count - 1
        var position = Int(truncatingIfNeeded: key >> 24) & mask
        while slots[position] != 0, slots[position] & ~1 != key { position = (position + 1) & mask }
        return position
    }

    private mutating func grow() {
        let old = slots
        slots = [UInt64](repeating: 0, count: old.count * 2)
        for entry in old where entry != 0 { slots[place(of: entry & ~1)] = entry }
    }
}
