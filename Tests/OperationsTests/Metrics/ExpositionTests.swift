import Testing

@testable import Operations

@Suite struct ExpositionTests {
    @Test func aFamilyIsItsHelpItsTypeAndItsSamples() {
        var exposition = Exposition()
        exposition.begin(MetricFamily("a_total", .counter, "Things \\ that\nhappened \"often\"."))
        exposition.sample(3, ["app": "recipes", "code": "UNREGISTERED"])
        exposition.sample(1, ["app": "a\\b\"c\nd"])
        exposition.single(MetricFamily("b", .gauge, "B."), 0.25)
        #expect(
            exposition.text == #"""
                # HELP a_total Things \\ that\nhappened "often".
                # TYPE a_total counter
                a_total{app="recipes",code="UNREGISTERED"} 3
                a_total{app="a\\b\"c\nd"} 1
                # HELP b B.
                # TYPE b gauge
                b 0.25

                """#)
    }

    @Test("A histogram's buckets add up, end with +Inf, and come with the sum in seconds and the count")
    func histogram() {
        var histogram = Histogram.latency(milliseconds: [0.5, 5, 1_000])
        for value in [-1, 0, 500_000, 500_001, 5_000_000, 2_000_000_000] { histogram.observe(value) }
        var exposition = Exposition()
        exposition.begin(MetricFamily("wait_seconds", .histogram, "Wait."))
        exposition.sample(histogram, ["app": "recipes"])
        exposition.sample(Histogram(.items, bounds: [1]))
        #expect(
            exposition.text == """
                # HELP wait_seconds Wait.
                # TYPE wait_seconds histogram
                wait_seconds_bucket{app="recipes",le="0.0005"} 3
                wait_seconds_bucket{app="recipes",le="0.005"} 5
                wait_seconds_bucket{app="recipes",le="1"} 5
                wait_seconds_bucket{app="recipes",le="+Inf"} 6
                wait_seconds_sum{app="recipes"} 2.006000001
                wait_seconds_count{app="recipes"} 6
                wait_seconds_bucket{le="1"} 0
                wait_seconds_bucket{le="+Inf"} 0
                wait_seconds_sum 0
                wait_seconds_count 0

                """)
    }

    @Test("A sum of nanoseconds goes on past 2^63, as months of many messages make it")
    func longSum() {
        var histogram = Histogram.latency(milliseconds: [1])
        for _ in 0..<3 { histogram.observe(.max) }
        #expect(histogram.sum > 2.7e19 && histogram.count == 3)
        var exposition = Exposition()
        exposition.begin(MetricFamily("wait_seconds", .histogram, "Wait."))
        exposition.sample(histogram)
        #expect(exposition.text.contains("wait_seconds_sum 27670116110"))
    }

    @Test("Numbers that are none are spelled as Prometheus reads them")
    func specialNumbers() {
        var exposition = Exposition()
        for value in [Double.infinity, -.infinity, .nan, 1e21, 1.5e-7] { exposition.sample(value) }
        #expect(exposition.text == " +Inf\n -Inf\n NaN\n 1e+21\n 1.5e-07\n")
    }

    @Test("Label values that come from outside are bounded in number and in kind")
    func labelledCounter() {
        var counter = LabelledCounter(limit: 2)
        for name in ["A", "B", "C", "A", "D"] { counter.add(for: name) }
        #expect(counter.values == ["A": 2, "B": 1, "other": 2])

        var texts = LabelledCounter()
        for name in ["", "has space", "fTok:APA91b", String(repeating: "x", count: 65), "a\nb"] { texts.add(for: name) }
        #expect(texts.values == ["other": 5])
        #expect(texts.total == 5)
    }

    @Test("The system says how much memory, time and how many files this process has")
    func process() throws {
        let statistics = ProcessStatistics.current
        #expect(try #require(statistics.residentBytes) > 1 << 20)
        #expect(try #require(statistics.virtualBytes) >= #require(statistics.residentBytes))
        #expect(try #require(statistics.cpuSeconds) > 0)
        #expect(try (3...#require(statistics.maximumFiles)).contains(#require(statistics.openFiles)))
        // After 2020 and not ahead: the test's own clock is not asked, since it is the same one.
        #expect(try #require(statistics.startSeconds) > 1_577_836_800)
        var exposition = Exposition()
        statistics.write(to: &exposition)
        for family in ProcessStatistics.families { #expect(exposition.text.contains("\n\(family.name) ")) }
    }
}
