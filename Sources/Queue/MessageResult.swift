/// What came of a claimed message: where it goes from `sending`, and what the attempt's row says.
package struct MessageResult: Equatable, Sendable {
    package enum Next: Equatable, Sendable {
        case sent
        case failed
        case expired
        /// Back to `pending`, due after this many milliseconds; `nil` leaves `due_at` as it was.
        case pending(delayMilliseconds: Int?, isAttemptSpent: Bool)
    }

    package let key: MessageKey
    package let next: Next
    package let httpStatus: Int?
    /// The provider's id, the part after `/messages/`.
    package let providerMessageID: String?
    /// What only few results have: the others are moved by the thousand.
    private let trouble: Trouble?

    /// UNREGISTERED, QUOTA_EXCEEDED, OUTCOME_UNKNOWN …; `nil` when sent without trouble.
    package var errorCode: String? { trouble?.errorCode }
    /// The verdict's class or what else ended the attempt; `nil` writes no row of `todoke.attempts`.
    package var outcome: String? { trouble?.outcome }
    /// A person's hint for the attempt's row.
    package var detail: String? { trouble?.detail }
    /// Where the token is dead by proof: one registered later than this is alive.
    ///
    /// Microseconds since 2000 by the database's clock; `nil` with all other results.
    package var tokenDeadSince: Int? { trouble?.tokenDeadSince }

    package init(
        key: MessageKey, next: Next, httpStatus: Int? = nil, errorCode: String? = nil, providerMessageID: String? = nil,
        outcome: String? = nil, detail: String? = nil, tokenDeadSince: Int? = nil
    ) {
        self.key = key
        self.next = next
        self.httpStatus = httpStatus
        // No text of Postgres holds a NUL, and one result that cannot be recorded would hold up all others.
        self.providerMessageID = providerMessageID.flatMap { Self.hasNUL($0) ? nil : $0 }
        let hasTrouble = errorCode != nil || outcome != nil || detail != nil
        trouble =
            hasTrouble
            ? Trouble(errorCode: errorCode, outcome: outcome, detail: detail, tokenDeadSince: tokenDeadSince) : nil
    }

    private static func hasNUL(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)
    }

    /// Whether the row leaves the queue with this result.
    package var isTerminal: Bool {
        if case .pending = next { false } else { true }
    }

    private final class Trouble: Equatable, Sendable {
        let errorCode: String?
        let outcome: String?
        let detail: String?
        let tokenDeadSince: Int?

        init(errorCode: String?, outcome: String?, detail: String?, tokenDeadSince: Int?) {
            self.errorCode = errorCode
            self.outcome = outcome
            self.detail = detail
            self.tokenDeadSince = tokenDeadSince
        }

        static func == (left: Trouble, right: Trouble) -> Bool {
            (left.errorCode, left.outcome, left.detail, left.tokenDeadSince)
                == (right.errorCode, right.outcome, right.detail, right.tokenDeadSince)
        }
    }
}
