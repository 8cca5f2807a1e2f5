import Delivery

@testable import Queue

/// `FOR UPDATE SKIP LOCKED`: rows are picked and locked when the statement begins, and change when it commits.
extension QueueModel {
    mutating func pick(_ claim: Claim, transaction: Int, now: Int64) -> [Int] {
        let candidates = open.filter { id in
            let message = self[id]
            return message.state == .pending && message.app == claim.app && message.priority == claim.priority
                && message.day == claim.day && message.dueAt <= now && message.lockedBy == 0
                && claim.floor.map { (Int(message.dueAt), id) > ($0.dueAt, $0.id) } ?? true
        }
        let ordered = candidates.sorted { (self[$0].dueAt, $0) < (self[$1].dueAt, $1) }
        let picked = Array(ordered.prefix(claim.limit))
        if flaw != .claimsDoNotLock { for id in picked { self[id].lockedBy = transaction } }
        return picked
    }

    mutating func commit(_ claim: Claim, picked: [Int], transaction: Int, sender: Int, began now: Int64) -> Claim.Answer
    {
        unlock(picked, by: transaction)
        let last = picked.last.map { Claim.Floor(dueAt: Int(self[$0].dueAt), id: $0) }
        var (expired, cancelled) = (0, 0)
        var messages: [ClaimedMessage] = []
        var withoutPayload: [MessageKey] = []
        for id in picked {
            self[id].claimNumber += 1
            self[id].sender = sender
            guard !isCancelled(id) else {
                finish(id, .cancelled)
                cancelled += 1
                continue
            }
            if let expires = self[id].expiresAt, expires <= now {
                finish(id, .expired)
                expired += 1
                continue
            }
            self[id].state = .sending
            self[id].leaseUntil = now + Int64(leaseSeconds) * 1_000_000_000
            let message = self[id]
            let age = message.attempts > 0 ? message.triedAt ?? message.dueAt : message.dueAt
            let key = MessageKey(id: id, day: message.day, claimNumber: message.claimNumber)
            guard message.hasPayload else {
                withoutPayload.append(key)
                continue
            }
            messages.append(
                ClaimedMessage(
                    key: key, app: message.app, attempts: message.attempts,
                    expiresInMilliseconds: message.expiresAt.map { Int(($0 - now + 999_999) / 1_000_000) },
                    ageInMilliseconds: Int(max(0, now - age) / 1_000_000), isAtMostOnce: isAtMostOnce(id),
                    ttlDigits: nil, payload: []))
        }
        return Claim.Answer(
            messages: messages, withoutPayload: withoutPayload, taken: picked.count, expired: expired,
            cancelled: cancelled, floor: last)
    }
}
