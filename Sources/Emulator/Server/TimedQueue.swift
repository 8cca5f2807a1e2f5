/// Things in the order in which they are due: a binary heap, since each may have its own delay.
struct TimedQueue<Element> {
    private struct Entry {
        /// Nanoseconds of the monotonic clock.
        let due: Int64
        let sequence: UInt64
        let element: Element

        func precedes(_ other: Entry) -> Bool { (due, sequence) < (other.due, other.sequence) }
    }

    private var heap: [Entry] = []
    private var sequence: UInt64 = 0

    var nextDue: Int64? { heap.first?.due }

    mutating func add(_ element: Element, due: Int64) {
        sequence += 1
        heap.append(Entry(due: due, sequence: sequence, element: element))
        var child = heap.count - 1
        while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes out the earliest element if it is due; equal times come in the order of adding.
    mutating func next(dueAt now: Int64) -> Element? {
        guard let first = heap.first, first.due <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].precedes(heap[smallest]) {
                smallest = child
            }
            if smallest == parent { return first.element }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
