import Queue

/// Where the last claims got to, so that the next need not walk over what they took.
///
/// A floor hides what came back, or was committed late, behind it: it is used only while batches come back full, it is
/// forgotten with anything that may have put rows there, and at least every second a claim goes without it.
struct ClaimFloors: Sendable {
    private var known: [Work.Due: (floor: Claim.Floor, since: Int64)] = [:]
    private var forgottenAt = Int64.min

    static let longestUse: Int64 = 1_000_000_000

    func floor(for place: Work.Due, now: Int64) -> Claim.Floor? {
        guard let found = known[place], now - found.since < Self.longestUse else { return nil }
        return found.floor
    }

    mutating func learn(_ answer: Claim.Answer, of claim: Claim, at place: Work.Due, askedAt: Int64, now: Int64) {
        // Counted from the answer: where a claim without a floor is slow, the next ones need it most.
        let since = claim.floor == nil ? now : known[place]?.since
        guard answer.taken == claim.limit, askedAt >= forgottenAt, let since, let floor = answer.floor else {
            known[place] = nil
            return
        }
        known[place] = (floor, since)
    }

    mutating func forget(now: Int64) {
        known.removeAll(keepingCapacity: true)
        forgottenAt = now
    }
}
