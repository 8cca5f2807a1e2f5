import Queue

/// Results from the moment they are known until the database has them: nothing is dropped before.
struct ResultBuffer: Sendable {
    /// Results of one statement, and what the database said to it so far.
    struct Batch: Sendable {
        let record: Record
        /// Refusals in a row.
        var refusals = 0
        /// Batches that the database had taken when it refused this one first.
        var takenBefore = 0
        var isAside = false
        /// When a batch that was set aside is tried again.
        var retryAt: Int64 = 0
        /// Set aside and not to be split further.
        var isSettled = false
    }

    private(set) var waiting: [MessageResult] = []
    /// Being recorded, in the order in which answers come; the first may be under verification.
    private var underWay: [Batch] = []
    private var mustSendAgain = false
    private var wantsVerification = false
    private(set) var oldest: Int64 = 0
    /// When the oldest of what is under way became known.
    private var underWaySince: Int64 = 0
    /// After a statement that failed, nothing is sent before this.
    var holdUntil: Int64 = 0
    /// Refused while others were taken: they do not stop the sender, and are tried now and then.
    private var aside: [Batch] = []
    private var taken = 0

    /// Refusals in a row that set a batch aside, if others were taken in between.
    private static let patience = 3
    /// Results that may be set aside; beyond that a refusal stops the sender.
    private static let asideLimit = 10_000
    /// Nanoseconds until what was set aside is tried in halves, and until what cannot be split is tried again.
    private static let splitPause: Int64 = 100_000_000
    private static let asidePause: Int64 = 60_000_000_000

    var isEmpty: Bool { waiting.isEmpty && underWay.isEmpty && aside.isEmpty }
    var isIdle: Bool { underWay.isEmpty }
    /// Nothing is left that the database may still take soon.
    var hasOnlyAside: Bool {
        !aside.isEmpty && waiting.isEmpty && underWay.isEmpty && aside.allSatisfy(\.isSettled)
    }
    /// When something that was set aside is tried again.
    var nextRetryAt: Int64? { aside.lazy.map(\.retryAt).min() }
    var asideCount: Int { Self.count(aside) }
    /// Results that the database does not have for certain.
    var count: Int { pressing + asideCount }
    /// Those that are not set aside.
    var pressing: Int { waiting.count + Self.count(underWay) + Self.count(short) }

    private static func count(_ batches: [Batch]) -> Int { batches.reduce(0) { $0 + $1.record.results.count } }

    /// Since when the oldest result that the database may not have has been known; what is set aside does not count.
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
            // Only others that are taken show that it is not the database that refuses everything.
            if underWay.contains(where: { $0.refusals > 1 }) { underWay = takeWaiting() + underWay }
            return (underWay.map(\.record), nil)
        }
        if wantsVerification, let first = underWay.first {
            wantsVerification = false
            return ([], first.record)
        }
        guard underWay.isEmpty else { return ([], nil) }
        if let index = aside.firstIndex(where: { $0.retryAt <= now }) {
            underWay = [aside.remove(at: index)]
            underWaySince = now
        } else if isDue, !waiting.isEmpty {
            underWaySince = oldest
            underWay = takeWaiting()
        }
        return (underWay.map(\.record), nil)
    }

    private mutating func takeWaiting() -> [Batch] {
        defer { waiting.removeAll(keepingCapacity: true) }
        return Record.batches(of: waiting).map { Batch(record: $0) }
    }

    /// The database answered for the first batch under way.
    mutating func recorded(matched: Int) {
        guard let first = underWay.first else { return }
        taken += 1
        if matched < first.record.results.count {
            // Its answers come in order, so those behind it are settled when the question is.
            short.append(first)
        }
        underWay.removeFirst()
        settle()
    }

    /// Batches whose rows did not all match, until it is known whether they hold the result already.
    private var short: [Batch] = []

    private mutating func settle() {
        guard underWay.isEmpty, !short.isEmpty else { return }
        underWay = short
        short = []
        wantsVerification = true
    }

    /// The database said how many rows of the first batch hold its results; gives back how many do not, and how many of
    /// those may have been sent: whoever has them now sends them again.
    mutating func verified(matched: Int) -> (refused: Int, maybeSent: Int) {
        guard !underWay.isEmpty else { return (0, 0) }
        let batch = underWay.removeFirst().record
        if !underWay.isEmpty { wantsVerification = true }
        let refused = max(0, batch.results.count - matched)
        return (refused, min(refused, batch.results.count { $0.next == .sent }))
    }

    /// The connection broke: everything that has no answer goes out once more.
    mutating func sendAgain() {
        guard !underWay.isEmpty || !short.isEmpty else { return }
        underWay = short + underWay
        short = []
        wantsVerification = false
        mustSendAgain = true
    }

    /// What became of a batch that the database refused.
    enum Refusal {
        /// It goes out once more after a pause, behind the others, and nothing is posted until the database takes results.
        case sentAgain
        case setAside(Record)
        /// It had been set aside before.
        case stillAside
    }

    /// The database refused the first batch under way, and those behind it were not tried.
    mutating func refused(now: Int64, pause: Int64) -> Refusal {
        guard !underWay.isEmpty else { return .sentAgain }
        var batch = underWay.removeFirst()
        if batch.refusals == 0 { batch.takenBefore = taken }
        batch.refusals += 1
        sendAgain()
        let isRefusedAlone = batch.refusals >= Self.patience && taken > batch.takenBefore
        let fits = asideCount + batch.record.results.count <= Self.asideLimit
        guard batch.isAside || (isRefusedAlone && fits) else {
            underWay.append(batch)
            sendAgain()
            holdUntil = now + pause
            return .sentAgain
        }
        let wasAside = batch.isAside
        batch.isAside = true
        setAside(batch, now: now)
        return wasAside ? .stillAside : .setAside(batch.record)
    }

    /// In halves, so that soon only what cannot be recorded is left; what cannot be split is tried each minute.
    private mutating func setAside(_ batch: Batch, now: Int64) {
        let results = batch.record.results
        let middle = results.count / 2
        for half in [results[..<middle], results[middle...]] where !half.isEmpty {
            for record in Record.batches(of: Array(half)) {
                let isSettled = results.count == 1
                let pause = isSettled ? Self.asidePause : Self.splitPause
                aside.append(Batch(record: record, isAside: true, retryAt: now + pause, isSettled: isSettled))
            }
        }
    }
}
