/// What the sender does on a verdict: with the message, its token and its app.
///
/// The sender's machine is held to this table by a test.
package struct Consequence: Equatable, Sendable {
    /// The state the message goes to; named as in `todoke.message_state`.
    package enum State: String, Sendable { case sent, failed, pending }

    package enum App: Equatable, Sendable {
        /// Other messages are posted as before.
        case goesOn
        /// Nothing of the app is posted for so many seconds.
        case waits(seconds: Int)
        /// The breaker opens: nothing is posted for 1 s, then one message as a probe; 2 s, 4 s … 60 s while that fails.
        case breakerOpens
        /// Other messages are posted as before; where no others succeed, the breaker opens.
        case breakerOpensUnlessOthersSucceed
    }

    package var state: State
    /// Whether `attempts` grows.
    package var isAttemptSpent: Bool
    /// Milliseconds until the message is due again, each equally likely; nil where it stays due, and for a final state.
    package var delay: ClosedRange<Int>?
    package var app: App
    /// How often the same sender posts the message again at once before the rest comes true.
    package var resends = 0
    /// Whether those resends wait for a new access token.
    package var needsNewCredentials = false
    /// Whether a device may get the message twice; an at-most-once message fails with OUTCOME_UNKNOWN instead.
    package var isDuplicateRisk = false
    /// Whether the verdict proves the token dead.
    package var isTokenDead = false

    /// The consequence of a verdict on the attempt of this number, counted from 1.
    package init(
        of verdict: Verdict, attempt: Int, maximumAttempts: Int = RetryPolicy.maximumAttempts,
        retry: RetryPolicy = RetryPolicy()
    ) {
        state = .pending
        isAttemptSpent = false
        app = .goesOn
        switch verdict.kind {
        case .sent:
            state = .sent
        case .tokenInvalid, .permanent, .payload:
            state = .failed
            isAttemptSpent = true
            isTokenDead = verdict.kind == .tokenInvalid
        case _ where verdict.evidence == .transport:
            if verdict.isUnprocessed {
                let code = verdict.transportCode
                if code?.isConnectFault == true { app = .breakerOpens } else { resends = Self.requeues }
            } else {
                resends = 1
                isDuplicateRisk = true
                delay = retry.range(attempt: 1)
            }
        case .authConfig where verdict.isOfOnePlatform:
            app = .breakerOpensUnlessOthersSucceed
            delay = retry.platformRange
        case .authConfig:
            app = .breakerOpens
            if verdict.asksForNewCredentials {
                resends = 1
                needsNewCredentials = true
            }
        case .retry, .retryAfter, .unknown:
            isAttemptSpent = !RetryPolicy.isTooSoon(verdict.retryAfterSeconds)
            if let seconds = verdict.retryAfterSeconds { app = .waits(seconds: RetryPolicy.honoured(seconds)) }
            if attempt < maximumAttempts || !isAttemptSpent {
                delay = retry.range(attempt: attempt, wait: verdict.retryAfterSeconds)
            } else {
                state = .failed
            }
        }
    }

    /// How often a message whose request never left is posted again at once before it is given back.
    package static let requeues = 5
}
