import Delivery
import Queue

@testable import SenderCore

/// What really happened, kept apart from what anybody was told, and the rules it has to obey.
struct Ledger {
    /// The promises of the design that a run can break.
    enum Rule: String {
        case nothingIsLost, duplicatesNeedUnknownOutcomes, duplicatesAreCounted, atMostOnce, fencing, refusalsAreCounted
        case attemptsAreForAnswers, endsAreJustified, leases, rate, holds, capacity, memory, spinning, liveness
        case resultsAreKept, expiry, tokens, machinesEndWell
    }

    struct Violation {
        let rule: Rule
        let time: Int64
        let text: String
    }

    /// A claim from its commit until its row is somebody else's.
    struct ClaimStory {
        enum End { case none, recorded, rescued }

        let sender: Int
        let claimedAt: Int64
        /// How much earlier the sender believes that it claimed.
        let delay: Int64
        var end = End.none
        /// Whether the sender was told that it has the message.
        var isKnown = false
        /// Whether the database has told the sender what became of its result.
        var isSettled = false
        var lastTruth: Post.Truth?
        var posts = 0
        var isSentRecorded = false
    }

    /// The provider took the message once.
    struct Processing {
        enum Told { case nothing, unknown, sent }

        let sender: Int
        let claim: Int
        let post: Int
        var told = Told.nothing
    }

    private(set) var violations: [Violation] = []
    /// By message, then by claim number from 1.
    var claims: [[ClaimStory]] = []
    var processings: [[Processing]] = []
    /// Answers that cost the message an attempt and were recorded.
    var spent: [Int] = []
    /// By message.
    var lastPosts: [Int: Post] = [:]

    mutating func report(_ rule: Rule, at time: Int64, _ text: String) {
        // The first few say it all.
        if violations.count < 20 { violations.append(Violation(rule: rule, time: time, text: text)) }
    }

    mutating func made(messages: Int) {
        while claims.count <= messages {
            claims.append([])
            processings.append([])
            spent.append(0)
        }
    }

    subscript(key: MessageKey) -> ClaimStory {
        get { claims[key.id][key.claimNumber - 1] }
        set { claims[key.id][key.claimNumber - 1] = newValue }
    }
}
