import Queue

/// Messages of one app that wait for a stream: those of a higher priority first, within one in the order they came.
struct ReadyQueue: Sendable {
    private var queues = Array(repeating: HeldQueue(), count: 10)
    /// A bit for each priority that has messages.
    private var occupied: UInt16 = 0
    private(set) var count = 0
    private(set) var urgentCount = 0
    /// No lease of what is here ends before.
    private(set) var earliestLeaseEnds = Int64.max

    var isEmpty: Bool { count == 0 }
    var hasUrgent: Bool { urgentCount > 0 }

    /// The next to be posted.
    var first: HeldMessage? { isEmpty ? nil : queues[highest].first }

    mutating func append(_ held: HeldMessage) {
        queues[held.priority].append(held)
        added(held)
    }

    /// Puts one back in front of its priority.
    mutating func prepend(_ held: HeldMessage) {
        queues[held.priority].prepend(held)
        added(held)
    }

    mutating func popFirst() -> HeldMessage? {
        guard !isEmpty, let held = queues[highest].popFirst() else { return nil }
        count -= 1
        if held.isUrgent { urgentCount -= 1 }
        if isEmpty { earliestLeaseEnds = .max }
        if queues[held.priority].isEmpty { occupied &= ~(1 << UInt16(held.priority)) }
        return held
    }

    mutating func removeAll(where condition: (HeldMessage) -> Bool = { _ in true }) -> [HeldMessage] {
        guard !isEmpty else { return [] }
        var removed: [HeldMessage] = []
        var earliest = Int64.max
        for priority in queues.indices.reversed() where !queues[priority].isEmpty {
            removed += queues[priority].removeAll { held in
                let isRemoved = condition(held)
                if !isRemoved { earliest = min(earliest, held.leaseEnds) }
                return isRemoved
            }
            if queues[priority].isEmpty { occupied &= ~(1 << UInt16(priority)) }
        }
        earliestLeaseEnds = earliest
        count -= removed.count
        urgentCount -= removed.count { $0.isUrgent }
        return removed
    }

    /// Only while something is there.
    private var highest: Int { 15 - occupied.leadingZeroBitCount }

    private mutating func added(_ held: HeldMessage) {
        earliestLeaseEnds = min(earliestLeaseEnds, held.leaseEnds)
        occupied |= 1 << UInt16(held.priority)
        count += 1
        if held.isUrgent { urgentCount += 1 }
    }
}
