/// Which kinds of statements wait for an answer, and since when; how many were sent and how many failed.
struct StatementClock {
    private(set) var askedAt: [StatementKind: Int64] = [:]
    private(set) var sent: [StatementKind: Int] = [:]
    private(set) var failed: [StatementKind: Int] = [:]

    /// A statement whose time somebody else takes.
    mutating func sent(_ kind: StatementKind) { sent[kind, default: 0] += 1 }

    mutating func asked(_ kind: StatementKind, now: Int64) {
        sent[kind, default: 0] += 1
        if askedAt[kind] == nil { askedAt[kind] = now }
    }

    mutating func answered(_ kind: StatementKind) { askedAt[kind] = nil }

    mutating func failed(_ kind: StatementKind) {
        askedAt[kind] = nil
        failed[kind, default: 0] += 1
    }

    /// The connections are gone, and so are the questions.
    mutating func lost() { askedAt = [:] }
}
