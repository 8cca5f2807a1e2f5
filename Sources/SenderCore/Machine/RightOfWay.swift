/// While urgent messages are being claimed after a wake-up, other claims, posts and results hold still for a moment.
///
/// On a machine that is busy with a broadcast the claim otherwise waits for its turn behind the statements, posts and
/// answers of that broadcast, some ten milliseconds at each step. It has an end, and where wake-ups never
/// end the others keep ten elevenths of the time.
struct RightOfWay: Sendable {
    /// Nanoseconds after which the others go on, with or without an answer.
    private static let longest: Int64 = 25_000_000
    /// The others have so many times as much to themselves.
    private static let share: Int64 = 10

    /// Nanoseconds after which nobody is taken to wait for a claim that could not leave.
    private static let patience: Int64 = 1_000_000_000

    private var wantedAt: Int64?
    private var since: Int64?
    private var nextAt = Int64.min

    /// Somebody was woken: the next urgent claim is waited for.
    mutating func want(now: Int64) { wantedAt = now }

    /// An urgent claim leaves.
    mutating func begin(now: Int64) {
        defer { wantedAt = nil }
        guard let wantedAt, now - wantedAt < Self.patience, since == nil, now >= nextAt else { return }
        since = now
    }

    /// It was answered, or failed, or is lost.
    mutating func end(now: Int64) {
        guard let begin = since else { return }
        since = nil
        nextAt = now + Self.share * min(now - begin, Self.longest)
    }

    func isGiven(now: Int64) -> Bool { until.map { now < $0 } ?? false }

    /// When the others go on at the latest.
    var until: Int64? { since.map { $0 + Self.longest } }
}
