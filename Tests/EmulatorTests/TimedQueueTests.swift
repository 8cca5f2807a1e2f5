import Testing

@testable import Emulator

/// Late answers come in time's order.
@Suite struct TimedQueueTests {
    @Test func timesAndEqualTimesAreKeptInOrder() {
        var heap = TimedQueue<Int>()
        let times: [Int64] = [5, 3, 9, 3, 1, 7, 3, 5]
        for (index, time) in times.enumerated() { heap.add(index, due: time) }
        #expect(heap.nextDue == 1)
        #expect(heap.next(dueAt: 0) == nil)
        var order: [Int] = []
        while let index = heap.next(dueAt: 7) { order.append(index) }
        #expect(order == [4, 1, 3, 6, 0, 7, 5])
        #expect(heap.nextDue == 9)
    }
}
