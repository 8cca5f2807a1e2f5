import Testing

@testable import BenchCore

@Suite struct StatisticsTests {
    @Test(arguments: [
        ([], 0.5, 0), ([7], 0.5, 7), ([7], 0.99, 7), ([2, 1], 0.5, 1), ([3, 1, 2], 0.5, 2),
        ([4, 3, 2, 1], 0.5, 2), ([4, 3, 2, 1], 0.75, 3), ([4, 3, 2, 1], 0.76, 4), ([4, 3, 2, 1], 1, 4),
        ([4, 3, 2, 1], 0, 1),
    ])
    func `the smallest value that so many do not exceed`(_ values: [Double], _ fraction: Double, _ expected: Double) {
        #expect(Statistics.percentile(values, fraction) == expected)
    }

    @Test func `of a hundred, one may be slower than p99`() {
        #expect(Statistics.percentile((1...100).map(Double.init).shuffled(), 0.99) == 99)
        #expect(Statistics.percentile((1...101).map(Double.init).shuffled(), 0.99) == 100)
        #expect(Statistics.median((1...5).map(Double.init).shuffled()) == 3)
    }

    @Test func `ratios are of the same round`() {
        var results = Results()
        results.bare = [
            Sample(messagesPerSecond: 100, cpuMicroseconds: 10), Sample(messagesPerSecond: 50, cpuMicroseconds: 20),
        ]
        results.sender = [ReportTests.sender(rate: 50, cpu: 15), ReportTests.sender(rate: 40, cpu: 25)]
        #expect(results.throughputRatios == [0.5, 0.8])
        #expect(results.cpuRatios == [1.5, 1.25])
    }
}
