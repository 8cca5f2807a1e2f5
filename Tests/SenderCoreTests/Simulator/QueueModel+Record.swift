import Delivery
import Queue

/// Results: fenced by sender, claim number and state.
extension QueueModel {
    private func holds(_ key: MessageKey, sender: Int) -> Bool {
        if flaw == .resultsAreNotFenced { return !self[key.id].state.isTerminal }
        let message = self[key.id]
        return message.claimNumber == key.claimNumber && message.sender == sender && message.state == .sending
    }

    /// Whether somebody else has the lock of a row that the statement would change: then it waits.
    func mustWait(_ record: Record) -> Bool { record.results.contains { self[$0.key.id].lockedBy != 0 } }

    /// The results that found their row; how each was applied is in the row now.
    mutating func apply(_ record: Record, sender: Int, duplicateRisk: Int, now: Int64) -> [MessageResult] {
        senders[sender - 1].duplicateRisk = max(senders[sender - 1].duplicateRisk, duplicateRisk)
        var matched: [MessageResult] = []
        for result in record.results where holds(result.key, sender: sender) {
            matched.append(result)
            let id = result.key.id
            self[id].errorCode = result.errorCode
            if result.outcome != nil { self[id].triedAt = self[id].triedAt ?? now }
            switch result.next {
            case .sent: finish(id, .sent)
            case .failed:
                self[id].attempts += result.httpStatus != nil ? 1 : 0
                finish(id, .failed)
            case .expired: finish(id, .expired)
            case .pending(let delay, let isSpent):
                self[id].attempts += isSpent ? 1 : 0
                let nextDue = delay.map { now + Int64($0) * 1_000_000 } ?? self[id].dueAt
                if isCancelled(id) {
                    finish(id, .cancelled)
                } else if let expires = self[id].expiresAt, expires <= nextDue {
                    finish(id, .expired)
                } else {
                    self[id].state = .pending
                    self[id].dueAt = nextDue
                    self[id].leaseUntil = 0
                }
            }
        }
        return matched
    }

    /// How many rows hold exactly this result already.
    func verify(_ record: Record, sender: Int) -> Int {
        record.results.count { result in
            let message = self[result.key.id]
            guard message.claimNumber == result.key.claimNumber, message.sender == sender, message.state != .sending
            else { return false }
            switch result.next {
            case .sent: return message.state == .sent
            case .failed: return message.state == .failed
            case .expired: return message.state == .expired
            case .pending: return [.pending, .expired, .cancelled].contains(message.state)
            }
        }
    }
}
