import Queue

/// Follows results from the statement that carries them to the answer that they are in the database.
///
/// The machine sends a batch again when the connection broke, and asks what became of it when fewer rows matched than
/// were given: so a batch counts when it is certain, and once. Answers come in the order of the statements.
struct ResultLedger {
    private struct Entry {
        let record: Record
        let askedAt: Int64
    }

    private var underWay: [Entry] = []
    private var verifying: Entry?

    /// When the oldest statement that has no answer was sent.
    var oldest: Int64? { verifying?.askedAt ?? underWay.first?.askedAt }

    mutating func send(_ record: Record, now: Int64) { underWay.append(Entry(record: record, askedAt: now)) }

    mutating func verify(_ record: Record, now: Int64) { verifying = Entry(record: record, askedAt: now) }

    /// The answer to the oldest record statement: how long it took, and the results if all of them are in.
    mutating func recorded(matched: Int, now: Int64) -> (duration: Int64, results: [MessageResult])? {
        guard !underWay.isEmpty else { return nil }
        let entry = underWay.removeFirst()
        let isComplete = matched >= entry.record.results.count
        return (now - entry.askedAt, isComplete ? entry.record.results : [])
    }

    /// The answer to the question what became of a batch: its results, and how many of them were refused.
    ///
    /// The database does not say which.
    mutating func verified(matched: Int) -> (results: [MessageResult], refused: Int)? {
        guard let entry = verifying else { return nil }
        verifying = nil
        return (entry.record.results, max(0, entry.record.results.count - matched))
    }

    /// Everything without an answer is sent again.
    mutating func forget() {
        underWay = []
        verifying = nil
    }
}
