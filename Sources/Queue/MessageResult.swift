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
    /// UNREGISTERED, QUOTA_EXCEEDED, OUTCOME_UNKNOWN …; `nil` when sent.
    package let errorCode: String?
    /// The provider's id, the part after `/messages/`.
    package let providerMessageID: String?
    /// The verdict's class or what else ended the attempt; `nil` writes no row of `todoke.attempts`.
    package let outcome: String?
    /// A person's hint for the attempt's row.
    package let detail: String?

    package init(
        key: MessageKey, next: Next, httpStatus: Int? = nil, errorCode: String? = nil, providerMessageID: String? = nil,
        outcome: String? = nil, detail: String? = nil
    ) {
        self.key = key
        self.next = next
        self.httpStatus = httpStatus
        self.errorCode = errorCode
        // No text of Postgres holds a NUL, and one result that cannot be recorded would hold up all others.
        self.providerMessageID = providerMessageID.flatMap { $0.utf8.contains(0) ? nil : $0 }
        self.outcome = outcome
        self.detail = detail
    }

    /// Whether the row leaves the queue with this result.
    package var isTerminal: Bool {
        if case .pending = next { false } else { true }
    }
}
