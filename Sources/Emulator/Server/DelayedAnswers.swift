import HTTP2

/// An answer that waits for its time; the stream may be gone by then, which its id tells.
struct DelayedAnswer {
    /// Nanoseconds of the monotonic clock.
    let due: Int64
    let connection: ServerConnection
    let stream: ServerStream
    let streamID: Int32
    let head: AnswerHead
    let body: [UInt8]
}

/// Answers in the order in which they are due: a binary heap, so that each may have its own latency.
struct DelayedAnswers {
    private var heap: [(sequence: UInt64, answer: DelayedAnswer)] = []
    private var sequence: UInt64 = 0

    var nextDue: Int64? { heap.first?.answer.due }

    mutating func add(_ answer: DelayedAnswer) {
        sequence += 1
        heap.append((sequence, answer))
        var child = heap.count - 1
        while child > 0, precedes(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes out the earliest answer if it is due; equal times come in the order of adding.
    mutating func next(dueAt now: Int64) -> DelayedAnswer? {
        guard let first = heap.first, first.answer.due <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && precedes(child, smallest) {
                smallest = child
            }
            if smallest == parent { return first.answer }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (heap[left].answer.due, heap[left].sequence) < (heap[right].answer.due, heap[right].sequence)
    }
}
