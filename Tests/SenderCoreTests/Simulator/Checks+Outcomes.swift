import Delivery
import Queue

@testable import SenderCore

/// What must hold when the provider takes a message, and what a sender is told of it.
extension Simulation {
    func checkProcessed(_ post: Post) {
        let key = post.order.message.key
        note(.provider, (key.id, key.claimNumber, post.number), "takes \(key.id)#\(key.claimNumber)")
        for index in ledger.processings[key.id].indices where ledger.processings[key.id][index].post == post.number {
            // libcurl issued it a second time and tells so.
            ledger.processings[key.id][index].told = .unknown
        }
        ledger.processings[key.id].append(
            Ledger.Processing(
                sender: post.sender, claim: key.claimNumber, post: post.number,
                told: post.truth == .unknown ? .unknown : .nothing))
        let certain = ledger.processings[key.id].count { processing in
            processing.told != .unknown && ledger.claims[key.id][processing.claim - 1].end != .rescued
        }
        if certain > 1 {
            ledger.report(
                .duplicatesNeedUnknownOutcomes, at: now, "\(key.id) was taken again though its outcome was known")
        }
        if queue.isAtMostOnce(key.id), ledger.processings[key.id].count > 1 {
            ledger.report(.atMostOnce, at: now, "\(key.id) was taken \(ledger.processings[key.id].count) times")
        }
    }

    func checkTold(_ post: Post) {
        let key = post.order.message.key
        ledger[key].lastTruth = post.truth
        for index in ledger.processings[key.id].indices where ledger.processings[key.id][index].post == post.number {
            // An issue before the one that was answered may have been taken: the shell tells how many there were.
            if post.truth != .answered(.sent) {
                ledger.processings[key.id][index].told = .unknown
            } else if ledger.processings[key.id][index].told == .nothing {
                ledger.processings[key.id][index].told = .sent
            }
        }
    }

    /// What the sender knows from now on.
    func told(_ event: SenderEvent, to sender: SimulatedSender) {
        switch event {
        case .work(let apps, _, _):
            sender.pausedApps = Set(apps.filter(\.isPaused).map(\.id))
            for app in apps {
                let rate = Double(app.messagesPerSecond) / Double(app.liveSenders)
                let key = RateKey(sender: sender.number, app: app.id)
                if rates[key] == nil { rates[key] = RateMeter(rate: rate, now: now) }
                rates[key]?.told(rate: rate, now: now)
            }
        case .claimed(_, let answer, _):
            for key in answer.messages.map(\.key) + answer.withoutPayload {
                ledger[key].isKnown = true
                sender.owed += 1
            }
        case .recorded(let matched):
            guard let record = sender.takeAnswered() else { return }
            if matched == record.results.count { settle(record, of: sender) }
        case .verified(let matched):
            guard let record = sender.takeAnswered() else { return }
            settle(record, of: sender)
            sender.refusedTold += record.results.count - matched
        case .tokenReady(let credential, let lifetime): sender.tokensTold[credential] = now + lifetime
        case .capacity(let streams): sender.capacityTold = streams
        case .transferFinished(let slot, _):
            guard let post = sender.lastPosts[slot] else { return }
            if post.truth == .answered(.sent) { sender.hadSuccess = true }
            if let seconds = post.secondsToWait {
                let app = post.order.message.app
                sender.holds[app] = max(sender.holds[app] ?? 0, now + Int64(seconds) * VirtualClock.second)
            }
        default: break
        }
    }

    private func settle(_ record: Record, of sender: SimulatedSender) {
        for result in record.results { ledger[result.key].isSettled = true }
        sender.owed -= record.results.count
    }
}
