import Testing

@testable import Delivery

@Suite struct SendRateTests {
    static let second: Int64 = 1_000_000_000

    /// Takes all it gets, every `step`, and gives back how many that was.
    private func drain(
        _ rate: inout SendRate, from start: Int64, seconds: Double, step: Int64 = second / 100, isUrgent: Bool = false
    ) -> Int {
        var count = 0
        var now = start
        while now < start + Int64(seconds * Double(Self.second)) {
            while rate.take(isUrgent: isUrgent, now: now) { count += 1 }
            now += step
        }
        return count
    }

    @Test func `from cold it climbs in a straight line for a minute`() {
        var rate = SendRate(share: 1_200, now: 0)
        var now: Int64 = 0
        for second in 0..<60 {
            let expected = 20 + 20 * Double(second) + 10
            let count = drain(&rate, from: now, seconds: 1)
            #expect(abs(Double(count) - expected) < expected * 0.05 + 8, "second \(second): \(count)")
            now += Self.second
        }
        let full = Double(drain(&rate, from: now, seconds: 10))
        #expect(full > 11_800 && full <= 12_300)
    }

    @Test func `a single push goes at once from cold`() {
        for share in [0.1, 1, 10, 10_000] {
            var rate = SendRate(share: share, now: 5)
            let taken = rate.take(isUrgent: true, now: 5)
            #expect(taken, "\(share)")
            var newcomer = SendRate(share: share, isAlone: false, now: 5)
            let first = newcomer.take(isUrgent: true, now: 5)
            #expect(first, "\(share)")
        }
    }

    @Test func `without a ramp the whole share is there`() {
        var rate = SendRate(share: 1_000, ramp: 0, now: 0)
        let count = drain(&rate, from: 0, seconds: 10)
        #expect((9_900...10_250).contains(count))
    }

    @Test func `after a rest it is cold again and traffic that goes on is not`() {
        var rate = SendRate(share: 1_200, now: 0)
        _ = drain(&rate, from: 0, seconds: 70)
        // 600 a second for three minutes: half of what it may.
        var now = 71 * Self.second
        for _ in 0..<1_800 {
            var taken = 0
            for _ in 0..<60 where rate.take(now: now) { taken += 1 }
            #expect(taken == 60)
            now += Self.second / 10
        }
        #expect(rate.level > 1_000)
        now += 61 * Self.second
        _ = rate.available(now: now)
        now += 61 * Self.second
        let left = rate.available(now: now)
        #expect(left < 20 && rate.level < 21)
    }

    @Test func `a trickle does not make it warm`() {
        var rate = SendRate(share: 1_200, now: 0)
        var taken = 0
        for second in 0..<600 where rate.take(now: Int64(second) * Self.second) { taken += 1 }
        #expect(taken == 600)
        #expect(rate.level < 21)
    }

    @Test func `a burst of 429s halves once and the rate grows back`() {
        var rate = SendRate(share: 1_200, ramp: 0, now: 0)
        let full = rate.level
        let posted = 10 * Self.second
        var cuts = 0
        for answer in 1..<200 where rate.cut(postedAt: posted, now: posted + Int64(answer)) { cuts += 1 }
        #expect(cuts == 1 && rate.level == full / 2)
        rate.hold(until: 20 * Self.second, now: posted + 300)
        let early = rate.take(isUrgent: true, now: 20 * Self.second)
        #expect(!early && rate.level == full / 2, "it does not grow while it waits")
        // What was posted after the cut cuts again.
        rate.cut(postedAt: 21 * Self.second, now: 21 * Self.second + 5)
        #expect(abs(rate.level - full / 4) < full / 60)
        _ = drain(&rate, from: 22 * Self.second, seconds: 22.5)
        #expect(abs(rate.level - full * 0.625) < full * 0.03, "\(rate.level)")
        _ = drain(&rate, from: 44 * Self.second + Self.second / 2, seconds: 24)
        #expect(rate.level > full * 0.999)
    }

    @Test func `what a hold would have saved up is not there when it ends`() {
        var rate = SendRate(share: 1_000, ramp: 0, now: 0)
        rate.hold(until: 30 * Self.second, now: 0)
        let held = rate.available(isUrgent: true, now: 29 * Self.second)
        let wait = rate.nanosecondsUntilNext(isUrgent: true, now: 29 * Self.second) ?? 0
        #expect(held == 0 && wait > Self.second && wait < Self.second * 2)
        let after = rate.available(isUrgent: true, now: 30 * Self.second + Self.second / 100)
        #expect((9...10).contains(after))
    }

    @Test func `cuts end where messages still go`() {
        var rate = SendRate(share: 1_200, now: 0)
        for cut in 1...100 { rate.cut(postedAt: Int64(cut) * 10, now: Int64(cut) * 10 + 1) }
        #expect(rate.level > 0.5)
        let count = drain(&rate, from: 2 * Self.second, seconds: 3)
        #expect(count >= 1)
    }

    @Test func `mostly 5xx slow down and some do not`() {
        var rate = SendRate(share: 1_200, ramp: 0, now: 0)
        var now = Self.second
        var cuts = 0
        for answer in 0..<10_000 {
            now += 1_000_000
            if answer % 5 != 0 { rate.answered() } else if rate.overloaded(postedAt: now, now: now) { cuts += 1 }
        }
        #expect(cuts == 0)
        for _ in 0..<5_000 {
            now += 1_000_000
            if rate.overloaded(postedAt: now, now: now) { cuts += 1 }
        }
        #expect((3...5).contains(cuts))
    }

    @Test func `the last of the bucket is for what is urgent`() {
        for share in [1.0, 2, 50, 10_000] {
            var rate = SendRate(share: share, ramp: 0, now: 0)
            while rate.take(now: 0) {}
            let last = rate.take(isUrgent: true, now: 0)
            #expect(last, "\(share)")
        }
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func `in no window is more taken than the rate allows`(_ seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let share: Double = [0.5, 3, 40, 900].randomElement(using: &generator) ?? 1
        let ramp = [0, 5, 60].randomElement(using: &generator) ?? 0
        var rate = SendRate(share: share, ramp: Int64(ramp) * Self.second, now: 0)
        var now: Int64 = 0
        var taken: [(time: Int64, count: Int)] = []
        for _ in 0..<1_500 {
            now += Int64.random(in: 0...Self.second / 5, using: &generator)
            if Int.random(in: 0..<200, using: &generator) == 0 { now += 40 * Self.second }
            let wanted = Int.random(in: 0...400, using: &generator)
            var count = 0
            while count < wanted, rate.take(isUrgent: wanted % 3 == 0, now: now) { count += 1 }
            taken.append((now, count))
            switch Int.random(in: 0..<400, using: &generator) {
            case 0: rate.cut(postedAt: now, now: now)
            case 1: rate.hold(until: now + 10 * Self.second, now: now)
            case 2: rate.setShare(share * Double.random(in: 0.2...1, using: &generator), now: now)
            default: break
            }
            if rate.level > share { Issue.record("\(rate.level) of \(share)") }
        }
        // From every start: a quarter of a second's worth at once, and in a minute never more than a minute's worth.
        for start in stride(from: 0, to: taken.count, by: 7) {
            var sum = 0
            for next in taken[start...] {
                let seconds = Double(next.time - taken[start].time) / 1e9
                sum += next.count
                let most: Double = share * seconds + max(2.0, share / 4) + 1
                guard Double(sum) <= most else {
                    Issue.record("\(sum) in \(seconds) s of \(share) a second")
                    return
                }
                if seconds > 60 { break }
                let inMinute: Double = share * 60 + 1
                guard Double(sum) <= inMinute else {
                    Issue.record("\(sum) in a minute of \(share) a second")
                    return
                }
            }
        }
    }

    /// Senders that join, leave in order and die, each hearing of it late: together they stay within the app's rate.
    @Test(arguments: 0..<12 as Range<UInt64>)
    func `senders that come and go stay within the app's rate together`(_ seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let total = 600.0
        var senders: [SendRate] = []
        /// When each sender that ever was is counted out; `nil` while it lives.
        var countedOut: [Int64?] = []
        var perSecond: [Int] = []
        for second in 0..<200 {
            let start = Int64(second) * Self.second
            if senders.isEmpty || Int.random(in: 0..<15, using: &generator) == 0 {
                countedOut.append(nil)
                let live = countedOut.count { $0.map { $0 > start } ?? true }
                senders.append(SendRate(share: total / Double(live), isAlone: live == 1, now: start))
            } else if senders.count > 1, Int.random(in: 0..<15, using: &generator) == 0 {
                senders.remove(at: Int.random(in: 0..<senders.count, using: &generator))
                if let index = countedOut.lastIndex(where: { $0 == nil }) {
                    countedOut[index] = start + 15 * Self.second
                }
            }
            var count = 0
            for index in senders.indices {
                // Each asks once a second how many there are, somewhen in it.
                let asks = Int.random(in: 0..<20, using: &generator)
                for step in 0..<20 {
                    let now = start + Int64(step) * Self.second / 20
                    if step == asks {
                        let live = countedOut.count { $0.map { $0 > now } ?? true }
                        senders[index].setShare(total / Double(max(1, live)), now: now)
                    }
                    while senders[index].take(now: now) { count += 1 }
                }
            }
            perSecond.append(count)
        }
        for start in 0..<(perSecond.count - 60) {
            // A newcomer posts ten a second before the others know of it.
            #expect(perSecond[start..<(start + 60)].reduce(0, +) <= Int(total) * 60 + 40)
        }
        #expect(perSecond.max().map { $0 <= 600 + 150 + 40 } == true)
    }

    @Test func `a rate of nothing takes nothing`() {
        var rate = SendRate(share: 0, now: 0)
        _ = rate.take(isUrgent: true, now: 0)
        let taken = rate.take(isUrgent: true, now: 100 * Self.second)
        let wait = rate.nanosecondsUntilNext(isUrgent: true, now: 100 * Self.second)
        #expect(!taken && wait == nil)
    }
}
