import Delivery
import Queue

@testable import SenderCore

/// What must hold when everything is over.
extension Simulation {
    func checkAtTheEnd() {
        for message in queue.messages { check(message) }
        var duplicates = Array(repeating: 0, count: senders.count + 1)
        var unaware = duplicates
        for id in 1..<max(1, ledger.processings.count) { count(id, &duplicates, &unaware) }
        for sender in senders {
            if let exit = sender.exit, exit != .ok {
                // What it could not say any more is bounded by the rows that said `sending` for it to the end of their lease.
                let lost = ledger.claims.reduce(0) { sum, stories in
                    sum + stories.count { $0.sender == sender.number && $0.end == .rescued }
                }
                if unaware[sender.number] > lost {
                    ledger.report(
                        .duplicatesAreCounted, at: now,
                        "sender \(sender.number) left \(lost) rows and \(unaware[sender.number]) duplicates")
                }
                continue
            }
            if duplicates[sender.number] > sender.machine.duplicateRisk {
                ledger.report(
                    .duplicatesAreCounted, at: now,
                    "sender \(sender.number) made \(duplicates[sender.number]) duplicates and counted \(sender.machine.duplicateRisk)"
                )
            }
            if sender.refusedTold != sender.machine.refusedResults {
                ledger.report(
                    .refusalsAreCounted, at: now,
                    "sender \(sender.number) was refused \(sender.refusedTold) results and counted \(sender.machine.refusedResults)"
                )
            }
        }
    }

    private func check(_ message: QueuedMessage) {
        let id = message.id
        if message.attempts != ledger.spent[id] {
            ledger.report(
                .attemptsAreForAnswers, at: now,
                "\(id) has \(message.attempts) attempts for \(ledger.spent[id]) answers")
        }
        switch message.state {
        case .pending, .sending: ledger.report(.nothingIsLost, at: now, "\(id) is \(message.state) at the end")
        case .sent:
            if ledger.processings[id].isEmpty {
                ledger.report(.endsAreJustified, at: now, "\(id) is sent and was never taken")
            }
        case .failed: break
        case .expired:
            if (message.expiresAt ?? .max) > databaseNow + VirtualClock.second * 40 {
                ledger.report(.endsAreJustified, at: now, "\(id) is expired and is not")
            }
        case .cancelled:
            if !queue.isCancelled(id) {
                ledger.report(.endsAreJustified, at: now, "\(id) is cancelled and nobody did it")
            }
        }
    }

    /// Each time that the provider took the message beside the one that counts belongs to the sender that posted it.
    private func count(_ id: Int, _ duplicates: inout [Int], _ unaware: inout [Int]) {
        let all = ledger.processings[id]
        guard all.count > 1 else { return }
        // The one that counts is the one that its sender was told of; a lost post may be processed after its successor.
        let isRecorded = { (processing: Ledger.Processing) in
            self.ledger.claims[id][processing.claim - 1].isSentRecorded
        }
        let recorded =
            all.lastIndex { isRecorded($0) && $0.told == .sent } ?? all.lastIndex(where: isRecorded) ?? all.count - 1
        for (index, processing) in all.enumerated() where index != recorded {
            duplicates[processing.sender] += 1
            if processing.told != .unknown { unaware[processing.sender] += 1 }
        }
    }

    func reportWhatIsLeft() {
        let left = queue.open.prefix(5).map { id in
            let message = queue[id]
            return
                "\(id) is \(message.state)#\(message.claimNumber), due in \((message.dueAt - databaseNow) / 1_000_000) ms"
        }
        let living = senders.filter { $0.isAlive }.map { sender in
            "sender \(sender.number) holds \(sender.machine.held), \(sender.machine.results.count) results, ready: \(sender.isReady)"
        }
        ledger.report(
            .liveness, at: now, "\(queue.open.count) messages did not end: \((left + living).joined(separator: "; "))")
    }
}
