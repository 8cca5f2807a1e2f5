/// How fast one sender may post for one app: its share of the app's rate, approached slowly and left quickly.
///
/// From cold the rate grows in a straight line to the share over `ramp`, as FCM's guide to scaling asks. It grows only
/// while it is used, and after a minute in which it was not, it falls to twice what was used: traffic that comes back
/// after a rest climbs again. An answer 429 halves it, once for all answers to posts from before the cut; it grows
/// back in the same straight line. A token bucket of a quarter of a second's worth does the counting. Time is passed
/// in, in nanoseconds on any clock that does not go back.
package struct SendRate: Sendable {
    /// Messages per second that are this sender's: the app's rate over the senders that live.
    package private(set) var share: Double
    /// Messages per second that may be posted now.
    package private(set) var level: Double

    private let ramp: Int64
    private var bucket: TokenBucket
    private var updated: Int64
    /// Nothing grows before.
    private var growsFrom: Int64
    /// When less than half of the bucket was left last: the rate was in use.
    private var lastScarce: Int64
    private var usageSince: Int64
    private var used = 0
    /// Answers to posts from before this do not cut again.
    private var cutAt = Int64.min
    /// How many of the latest answers said that the provider has more than it can bear, from 0 to 1.
    private var trouble = 0.0

    private static let second: Int64 = 1_000_000_000
    private static let minute: Int64 = 60 * second
    /// How long a newcomer among other senders waits before it grows: by then they know of it and have made room.
    package static let settling: Int64 = 2 * second

    /// Starts cold, with a bucket full of what little that allows.
    ///
    /// With a `ramp` of 0 the rate is at once the whole share, and what a 429 cut grows back over a minute.
    package init(share: Double, isAlone: Bool = true, ramp: Int64 = minute, now: Int64) {
        self.share = max(0, share)
        self.ramp = max(0, ramp)
        let limit = Self.limit(of: self.share)
        level = ramp <= 0 ? limit : Self.start(of: limit, isAlone: isAlone)
        bucket = TokenBucket(rate: level, burst: Self.burst(of: level), now: now)
        updated = now
        growsFrom = isAlone || ramp <= 0 ? now : now + Self.settling
        lastScarce = now - Self.minute
        usageSince = now
    }

    /// The share changed, since the app's rate did or a sender came or went: less holds at once, more is grown into.
    package mutating func setShare(_ share: Double, now: Int64) {
        guard share != self.share else { return }
        update(now: now)
        let wasFull = level >= Self.limit(of: self.share)
        self.share = max(0, share)
        let limit = Self.limit(of: self.share)
        level = ramp <= 0 && wasFull ? limit : min(level, limit)
        applyLevel(now: now)
    }

    /// Messages that may be posted now; the last of the bucket is kept for urgent ones.
    package mutating func available(isUrgent: Bool = false, now: Int64) -> Int {
        update(now: now)
        return max(0, bucket.available(now: now) - (isUrgent ? 0 : reserve))
    }

    /// Takes the right to post one message, if there is one.
    package mutating func take(isUrgent: Bool = false, now: Int64) -> Bool {
        update(now: now)
        let left = bucket.available(now: now)
        if Double(left) < bucket.burst / 2 { lastScarce = now }
        guard left > (isUrgent ? 0 : reserve) else { return false }
        used += bucket.take(1, now: now)
        return true
    }

    /// Nanoseconds until a message may be posted; `nil` when none ever may, because the share is 0.
    package mutating func nanosecondsUntilNext(isUrgent: Bool = false, now: Int64) -> Int64? {
        update(now: now)
        return bucket.nanosecondsUntil(1 + (isUrgent ? 0 : reserve), now: now)
    }

    /// The provider said 429 to a post of that time: halves the rate, unless it has been halved since; true if it did.
    @discardableResult
    package mutating func cut(postedAt: Int64, now: Int64) -> Bool {
        guard postedAt >= cutAt else { return false }
        update(now: now)
        cutAt = now
        level = max(level / 2, min(level, 1))
        applyLevel(now: now)
        return true
    }

    /// Nothing is posted before `until`, and what would have been saved up by then is not.
    package mutating func hold(until: Int64, now: Int64) {
        update(now: now)
        bucket.hold(until: until)
        growsFrom = max(growsFrom, until)
    }

    /// An answer that was no 5xx.
    package mutating func answered() { if trouble > 0 { trouble = trouble < 0.001 ? 0 : trouble * 31 / 32 } }

    /// An answer 5xx: when most answers of late were such, the rate is halved, at most once a second; true if it was.
    package mutating func overloaded(postedAt: Int64, now: Int64) -> Bool {
        trouble += (1 - trouble) / 32
        guard trouble > 0.5, cutAt < now - Self.second, cut(postedAt: postedAt, now: now) else { return false }
        trouble = 0.25
        return true
    }

    /// What may be posted only urgently: an eighth of the bucket, at most 100 messages.
    private var reserve: Int { bucket.burst >= 2 ? min(100, max(1, Int(bucket.burst) / 8)) : 0 }

    /// The bucket counts against the share: in no minute is more posted than sixty times the share.
    private static func limit(of share: Double) -> Double { max(share / 2, share - burst(of: share) / 60) }

    private static func burst(of level: Double) -> Double { max(level / 4, level >= 0.5 ? 2 : 1) }

    private static func start(of limit: Double, isAlone: Bool) -> Double {
        min(limit, isAlone ? max(10, limit / 60) : 10)
    }

    private mutating func applyLevel(now: Int64) { bucket.setRate(level, burst: Self.burst(of: level), now: now) }

    private mutating func update(now: Int64) {
        guard now > updated else { return }
        let limit = Self.limit(of: share)
        if now - usageSince >= Self.minute { cool(limit: limit, now: now) }
        if level < limit {
            let growing = min(now, lastScarce + Self.second) - max(updated, growsFrom)
            if ramp <= 0 && cutAt == .min {
                level = limit
                applyLevel(now: now)
            } else if growing > 0 {
                let time = Double(growing) / Double(ramp > 0 ? ramp : Self.minute)
                level = min(limit, level + limit * time)
                applyLevel(now: now)
            }
        }
        updated = now
    }

    /// Once a minute: what was not used is given up.
    private mutating func cool(limit: Double, now: Int64) {
        let seconds = Double(now - usageSince) / Double(Self.second)
        if ramp > 0 && lastScarce <= usageSince {
            level = min(level, max(Self.start(of: limit, isAlone: true), 2 * Double(used) / seconds))
            applyLevel(now: now)
        }
        usageSince = now
        used = 0
    }
}
