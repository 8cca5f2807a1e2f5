import Queue

/// Results from the moment they are known until the database has them: nothing is dropped before.
struct ResultBuffer: Sendable {
    private(set) var waiting: [MessageResult] = []
    /// Being recorded, in the order in which answers come; the first may be under verification.
    private var underWay: [Record] = []
    private var isVerifying = false
    private var mustSendAgain = false
    private var wantsVerification = false
    private(set) var oldest: Int64 = 0
    /// When the oldest of what is under way became known.
    private var underWaySince: Int64 = 0
    /// After a statement that failed, nothing is sent before this.
    var holdUntil: Int64 = 0

    var isEmpty: Bool { waiting.isEmpty && underWay.isEmpty }
    var isIdle: Bool { underWay.isEmpty }
    /// Results that the database does not have for certain.
    var count: Int {
        let sum = { (count: Int, record: Record) in count + record.results.count }
        return short.reduce(underWay.reduce(waiting.count, sum), sum)
    }

    /// Since when the oldest result that the database may not have has been known.
    var unconfirmedSince: Int64? {
        if !underWay.isEmpty || !short.isEmpty { return underWaySince }
        return waiting.isEmpty ? nil : oldest
    }

    mutating func append(_ result: MessageResult, now: Int64) {
        if waiting.isEmpty { oldest = now }
        waiting.append(result)
    }

    /// What goes out now, if anything: a new group, the old one again, or the question what became of it.
    mutating func next(isDue: Bool, now: Int64) -> (records: [Record], verify: Record?) {
        guard now >= holdUntil else { return ([], nil) }
        if mustSendAgain {
            mustSendAgain = false
            return (underWay, nil)
        }
        if wantsVerification, let first = underWay.first {
            wantsVerification = false
            isVerifying = true
            return ([], first)
        }
        guard underWay.isEmpty, isDue, !waiting.isEmpty else { return ([], nil) }
        underWay = Record.batches(of: waiting)
        underWaySince = oldest
        waiting.removeAll(keepingCapacity: true)
        return (underWay, nil)
    }

    /// The database answered for the first batch under way.
    mutating func recorded(matched: Int) {
        guard let first = underWay.first else { return }
        if matched < first.results.count {
            // Its answers come in order, so those behind it are settled when the question is.
            short.append(first)
        }
        underWay.removeFirst()
        settle()
    }

    /// Batches whose rows did not all match, until it is known whether they hold the result already.
    private var short: [Record] = []

    private mutating func settle() {
        guard underWay.isEmpty, !short.isEmpty else { return }
        underWay = short
        short = []
        wantsVerification = true
    }

    /// The database said how many rows of the first batch hold its results; gives back how many do not, and how many of
    /// those may have been sent: whoever has them now sends them again.
    mutating func verified(matched: Int) -> (refused: Int, maybeSent: Int) {
        isVerifying = false
        guard !underWay.isEmpty else { return (0, 0) }
        let batch = underWay.removeFirst()
        if !underWay.isEmpty { wantsVerification = true }
        let refused = max(0, batch.results.count - matched)
        return (refused, min(refused, batch.results.count { $0.next == .sent }))
    }

    /// The connection broke, or the statement failed: everything that has no answer goes out once more.
    mutating func sendAgain() {
        guard !underWay.isEmpty || !short.isEmpty else { return }
        underWay = short + underWay
        short = []
        isVerifying = false
        wantsVerification = false
        mustSendAgain = true
    }
}
