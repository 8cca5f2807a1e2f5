import Delivery
import Queue

@testable import SenderCore

/// What must hold when a row leaves `sending`.
extension Simulation {
    /// The database has taken the result.
    func checkRecorded(_ result: MessageResult, by sender: Int) {
        let key = result.key
        let story = ledger[key]
        if story.sender != sender || story.end != .none || ledger.claims[key.id].count != key.claimNumber {
            ledger.report(.fencing, at: now, "sender \(sender) records \(result.brief) without holding its lease")
        }
        ledger[key].end = .recorded
        ledger[key].isSentRecorded = result.next == .sent
        let isSpent = result.next == .failed ? result.httpStatus != nil : result.spendsAttempt
        if isSpent { ledger.spent[key.id] += 1 }
        guard let wrong = complaint(about: result, truth: story.lastTruth, isSpent: isSpent) else { return }
        let truth = story.lastTruth.map { "\($0)" } ?? "nothing was posted"
        ledger.report(wrong, at: now, "sender \(sender) records \(result.brief) although the truth is: \(truth)")
    }

    private func complaint(about result: MessageResult, truth: Post.Truth?, isSpent: Bool) -> Ledger.Rule? {
        let id = result.key.id
        let verdict: VerdictClass? = if case .answered(let kind) = truth { kind } else { nil }
        // A message that grew too old while our settings were wrong fails with the answer that said so.
        let isTooOld = databaseNow - queue[id].madeDueAt + 60 * VirtualClock.second > plan.settings.maximumAge
        if result.next == .failed && verdict == .authConfig && isTooOld { return nil }
        if isSpent && verdict?.spendsAttempt != true { return .attemptsAreForAnswers }
        if verdict == .sent && result.next != .sent { return .endsAreJustified }
        switch result.next {
        case .sent: return verdict == .sent ? nil : .endsAreJustified
        case .failed:
            switch verdict {
            case .tokenInvalid, .permanent, .payload: return nil
            case .retry, .retryAfter, .unknown:
                return isTooOld || queue[id].attempts >= plan.settings.maximumAttempts ? nil : .endsAreJustified
            case .sent, .authConfig: return .endsAreJustified
            case nil:
                if truth == .unknown { return queue.isAtMostOnce(id) || isTooOld ? nil : .endsAreJustified }
                return truth == nil && !queue[id].hasPayload ? nil : .endsAreJustified
            }
        case .pending:
            if truth == .unknown && queue.isAtMostOnce(id) { return .atMostOnce }
            return [.tokenInvalid, .permanent, .payload].contains(verdict) ? .endsAreJustified : nil
        case .expired:
            guard let expires = queue[id].expiresAt else { return .endsAreJustified }
            let story = ledger[result.key]
            if lastClockJump >= story.claimedAt - VirtualClock.second { return nil }
            return databaseNow >= expires - story.delay - VirtualClock.millisecond ? nil : .expiry
        }
    }

    /// Somebody takes the row from whoever has it.
    func checkRescued(_ id: Int) {
        guard let story = ledger.claims[id].last else { return }
        ledger.claims[id][ledger.claims[id].count - 1].end = .rescued
        let sender = senders[story.sender - 1]
        let hasJumped = lastClockJump >= story.claimedAt - VirtualClock.second
        if queue[id].leaseUntil >= databaseNow && !hasJumped {
            ledger.report(.leases, at: now, "\(id) was rescued while sender \(story.sender) had its lease")
        }
        // Of a claim that was committed after its connection was gone nobody knows.
        if sender.isAlive && story.isKnown && !hasJumped && sender.lastTrouble < story.claimedAt
            && !sender.isInTrouble(now: now)
        {
            ledger.report(
                .leases, at: now,
                "sender \(story.sender) let the lease of \(id)#\(ledger.claims[id].count) run out without any trouble")
        }
        if sender.exit == .ok && story.isKnown {
            ledger.report(.machinesEndWell, at: now, "sender \(story.sender) ended with 0 and kept \(id)")
        }
    }
}

extension MessageResult {
    fileprivate var spendsAttempt: Bool { if case .pending(_, true) = next { true } else { false } }
}
