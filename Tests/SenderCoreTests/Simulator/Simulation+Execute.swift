import Queue

@testable import SenderCore

/// What a statement does at the moment it commits, and what the ledger has to know of it.
extension Simulation {
    func execute(_ transaction: Transaction) -> SenderEvent? {
        let statement = transaction.statement
        note(.statement, (transaction.row, transaction.number, 0), "\(statement.kind) of \(transaction.row) commits")
        switch statement.work {
        case .work:
            let (apps, due, next) = queue.work(askedBy: transaction.row, now: transaction.began)
            return .work(apps: apps, due: due, nextInMilliseconds: next)
        case .urgent(let apps):
            return .urgent(due: queue.due(apps: apps, priorities: Work.urgentPriorities, now: transaction.began).due)
        case .claim(let claim): return claimed(claim, transaction)
        case .unfinished(let apps): return .unfinished(queue.unfinished(apps: apps))
        case .record(let record, let duplicateRisk):
            return recorded(record, duplicateRisk: duplicateRisk, transaction)
        case .verify(let record): return .verified(matched: queue.verify(record, sender: transaction.row))
        case .rescue: return rescued(transaction)
        case .heartbeat(let vitals):
            queue.heartbeat(sender: transaction.row, duplicateRisk: vitals.duplicateRisk, now: transaction.began)
            return .heartbeatDone
        case .keepHouse(let apps):
            let expired = queue.keepHouse(apps: apps, now: transaction.began)
            return .houseKept(expired: expired.count)
        }
    }

    private func claimed(_ claim: Claim, _ transaction: Transaction) -> SenderEvent {
        let answer = queue.commit(
            claim, picked: transaction.picked, transaction: transaction.number, sender: transaction.row,
            began: transaction.began)
        let number = senders.first { $0.row == transaction.row }?.number ?? 0
        for id in transaction.picked {
            ledger.claims[id].append(
                Ledger.ClaimStory(
                    sender: number, claimedAt: now,
                    delay: transaction.began - databaseOffset - transaction.statement.askedAt))
        }
        return .claimed(claim, answer, askedAt: transaction.statement.askedAt)
    }

    private func recorded(_ record: Record, duplicateRisk: Int, _ transaction: Transaction) -> SenderEvent {
        let number = senders.first { $0.row == transaction.row }?.number ?? 0
        let matched = queue.apply(
            record, sender: transaction.row, duplicateRisk: duplicateRisk, now: transaction.began)
        for result in matched { checkRecorded(result, by: number) }
        wake(matched.filter { $0.next.isDueAtOnce }.map(\.key.id))
        return .recorded(matched: matched.count)
    }

    private func rescued(_ transaction: Transaction) -> SenderEvent {
        for id in transaction.picked { checkRescued(id) }
        let count = queue.commitRescue(
            transaction.picked, transaction: transaction.number, now: transaction.began)
        wake(transaction.picked)
        return .rescued(count: count)
    }
}

extension MessageResult.Next {
    /// Given back as it was: the statement wakes whoever listens.
    fileprivate var isDueAtOnce: Bool { if case .pending(nil, _) = self { true } else { false } }
}
