import Delivery

/// How far our clock is from the provider's.
enum ClockSkew {
    /// What a clock may be off before anybody minds, s.
    static let tolerance = 60

    /// Seconds by which our clock is ahead of the provider's, by the `Date` of an answer that just came; nil when it is
    /// less than ``tolerance``, or cannot be told.
    static func seconds(date: String?, now: Int) -> Int? {
        guard let date, let theirs = HTTPDate.secondsSince1970(date, now: now) else { return nil }
        let skew = now - theirs
        return abs(skew) >= tolerance ? skew : nil
    }
}
