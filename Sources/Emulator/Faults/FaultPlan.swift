/// Decides which request a fault hits: every Nth of its kind, and no more than the limit in all.
struct FaultPlan {
    private var limit: Int
    private var resetBeforeAccept: EveryNth
    private var resetAfterAccept: EveryNth
    private var refuseStream: EveryNth
    private var goAway: EveryNth

    init(_ settings: FaultSettings) {
        limit = settings.limit ?? .max
        resetBeforeAccept = EveryNth(settings.resetBeforeAccept)
        resetAfterAccept = EveryNth(settings.resetAfterAccept)
        refuseStream = EveryNth(settings.refuseStream)
        goAway = EveryNth(settings.goAway)
    }

    /// How many faults have happened.
    private(set) var count = 0

    mutating func resetsBeforeAccept() -> Bool { spend(resetBeforeAccept.next()) }
    mutating func resetsAfterAccept() -> Bool { spend(resetAfterAccept.next()) }
    mutating func refusesStream() -> Bool { spend(refuseStream.next()) }
    mutating func goesAway() -> Bool { spend(goAway.next()) }

    private mutating func spend(_ isHit: Bool) -> Bool {
        guard isHit, count < limit else { return false }
        count += 1
        return true
    }
}

/// Counts and is true at every Nth call; without N never.
private struct EveryNth {
    private let interval: Int?
    private var seen = 0

    init(_ interval: Int?) { self.interval = interval }

    mutating func next() -> Bool {
        guard let interval else { return false }
        seen += 1
        return seen % interval == 0
    }
}
