/// What is wrong with the targets that fit a pattern.
struct TargetRule: Equatable, Sendable {
    enum Fate: String, CaseIterable, Sendable {
        case unregistered
        /// It belongs to another sender.
        case otherSender = "other_sender"
        /// APNs says 410, which shows only when the message is really sent.
        case apnsDead = "apns_dead"
    }

    var pattern: Pattern
    var fate: Fate
    /// So many messages to each target are accepted first.
    var after = 0
}

/// Which targets are dead, and since when.
struct Targets {
    private let rules: [TargetRule]
    /// Messages accepted so far, for targets whose time is still to come.
    private var accepted = CountTable()

    /// The built-in rule comes last.
    init(_ rules: [TargetRule]) {
        self.rules = rules + [TargetRule(pattern: Pattern("unregistered-*"), fate: .unregistered)]
    }

    /// What becomes of a valid message to this target; nil when there is nothing wrong with it.
    mutating func refusal(_ target: String, isValidateOnly: Bool) -> SendRefusal? {
        guard let rule = rules.first(where: { $0.pattern.matches(target.utf8) }) else { return nil }
        if isValidateOnly && rule.fate == .apnsDead { return nil }
        if rule.after > 0 {
            let subject = Chance.hash(target.utf8)
            // Once dead, a target stays at its count.
            if accepted.current(subject) < rule.after {
                if !isValidateOnly { _ = accepted.next(subject) }
                return nil
            }
        }
        switch rule.fate {
        case .unregistered: return .unregistered
        case .otherSender: return .senderIDMismatch
        case .apnsDead: return .apnsUnregistered
        }
    }
}
