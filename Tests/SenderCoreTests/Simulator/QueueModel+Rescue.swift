import Delivery
import Queue

/// Rows whose lease ran out, and rows that expired where nobody may claim them.
extension QueueModel {
    mutating func pickLost(apps: [Int], transaction: Int, now: Int64) -> [Int] {
        let lost = open.filter { id in
            let message = self[id]
            return message.state == .sending && (message.leaseUntil < now || flaw == .rescuesIgnoreLeases)
                && apps.contains(message.app) && message.lockedBy == 0
        }
        let picked = Array(lost.prefix(Rescue.limit))
        for id in picked { self[id].lockedBy = transaction }
        return picked
    }

    mutating func commitRescue(_ picked: [Int], transaction: Int, now: Int64) -> Int {
        unlock(picked, by: transaction)
        for id in picked {
            self[id].triedAt = self[id].triedAt ?? now
            if isAtMostOnce(id) {
                self[id].errorCode = "OUTCOME_UNKNOWN"
                finish(id, .failed)
            } else if isCancelled(id) {
                finish(id, .cancelled)
            } else {
                self[id].state = .pending
                self[id].leaseUntil = 0
            }
        }
        return picked.count
    }

    /// Gives back the messages that it expired.
    mutating func keepHouse(apps: [Int], now: Int64) -> [Int] {
        let old = open.filter { id in
            let message = self[id]
            return message.state == .pending && apps.contains(message.app) && message.dueAt <= now
                && (message.expiresAt ?? .max) <= now && message.lockedBy == 0
        }
        let picked = Array(old.prefix(Housekeeping.limit))
        for id in picked { finish(id, .expired) }
        return picked
    }
}
