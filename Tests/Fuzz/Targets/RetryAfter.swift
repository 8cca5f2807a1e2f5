@testable import Delivery
@testable import Emulator

extension FuzzTarget {
    /// `Retry-After` and the dates of HTTP.
    ///
    /// A wait is between nothing and a year; a date that is printed anew is the same moment.
    static let retryAfter = FuzzTarget("retry-after", longest: 256) { input in
        let text = input.text
        for now in [0, 1_700_000_000, 4_102_444_800] {
            if let seconds = Delivery.RetryAfter.seconds(text, now: now) {
                expect((0...31_536_000).contains(seconds), "a wait of \(seconds) s")
                expect(Delivery.RetryAfter.seconds(" \(text)\t", now: now) == seconds, "blanks change the wait")
            }
            guard let moment = HTTPDate.secondsSince1970(text, now: now) else { continue }
            // The printer is for the wall clock, which is past 1970.
            guard moment >= 0 else { continue }
            let printed = WallTime(seconds: Int64(moment), microseconds: 0).httpDate
            expect(HTTPDate.secondsSince1970(printed) == moment, "\(moment) is printed as \(printed)")
        }
    }
}
