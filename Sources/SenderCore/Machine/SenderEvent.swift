package import Delivery
package import Operations
package import Queue

/// What the machine hears from its shell.
package enum SenderEvent: Sendable {
    /// Both database connections are up and the sender has its row in `todoke.senders`.
    case databaseReady
    /// A connection was lost or refused; what was being recorded may or may not have been committed.
    case databaseLost(Failure)
    /// Answer to ``SenderAction/askWork``.
    case work(apps: [Work.App], due: [Work.Due], nextInMilliseconds: Int?)
    /// Answer to ``SenderAction/claim(_:)``; `askedAt` is when the statement left, so that leases are judged early.
    case claimed(Claim, Claim.Answer, askedAt: Int64)
    /// Answer to ``SenderAction/askUnfinished``.
    case unfinished(Bool)
    /// Answer to ``SenderAction/record(_:)``, in the order of the requests.
    case recorded(matched: Int)
    /// What somebody must know of the devices whose tokens were proven dead; it comes with ``recorded(matched:)``.
    case registryNote(String)
    /// Answer to ``SenderAction/verify(_:)``.
    case verified(matched: Int)
    case rescued(count: Int)
    case heartbeatDone
    /// The sender's row in `todoke.senders` was gone and is there again, under its old id.
    case registeredAgain
    /// A statement failed though the connection is fine; it is asked again after a pause.
    case statementFailed(StatementKind, Failure)
    /// Answer to ``SenderAction/refreshToken(credential:)``.
    case tokenReady(credential: Int, lifetime: Int64)
    case tokenFailed(credential: Int, Failure)
    /// The credentials were read anew and may be others: what their fault had stopped is tried again at once.
    case credentialReplaced(Int)
    /// How many requests the provider's connections can carry from now on.
    case capacity(streams: Int)
    /// Somebody queued messages for the app, or, where the listener was away, perhaps for any.
    case woken(app: String?)
    /// Whether wake-ups can be relied on.
    case listening(Bool)
    /// Answer to ``SenderAction/askUrgent(apps:)``.
    case urgent(due: [Work.Due])
    /// Answer to ``SenderAction/keepHouse(apps:isThorough:)``.
    case houseKept(expired: Int)
    case transferFinished(slot: Int, TransferOutcome)
    case stopRequested
}

/// The statements a failure can belong to.
package enum StatementKind: Sendable, CaseIterable {
    case work, urgent, claim, unfinished, record, verify, rescue, heartbeat, housekeeping
}

/// How one post ended.
package struct TransferOutcome: Equatable, Sendable {
    package enum Ending: Equatable, Sendable {
        /// A final status came back, whole or cut.
        case answered(Verdict, httpStatus: Int)
        /// No status came back and the request never left: proven not processed.
        case notIssued(Failure, isConnectFault: Bool)
        /// No status came back after the request was issued: nobody can say whether it was processed.
        case unknown(reason: String)
    }

    package let ending: Ending
    /// How often the request was put on a connection: once at most, unless libcurl did it again by itself.
    package let issues: Int
    /// The answer came over HTTP/1.1: it counts, but this is no way to go on.
    package var isHTTP1 = false
    /// How far this machine's clock is ahead of the answer's `Date`; `nil` below a minute.
    package var clockSkewSeconds: Int?

    package init(_ ending: Ending, issues: Int) {
        self.ending = ending
        self.issues = issues
    }
}
