import Delivery
import Queue

@testable import SenderCore

/// What must hold at the moment a sender posts.
extension Simulation {
    func checkOrder(_ post: Post, of sender: SimulatedSender) {
        let order = post.order
        let key = order.message.key
        let story = ledger[key]
        let who = "sender \(sender.number) posts \(key.id)#\(key.claimNumber)"
        if story.sender != sender.number || !story.isKnown {
            ledger.report(.fencing, at: now, "\(who), which it never claimed")
        }
        if sender.machine.inFlight > sender.capacityTold {
            ledger.report(.capacity, at: now, "\(who): \(sender.machine.inFlight) on \(sender.capacityTold) streams")
        }
        if now < sender.holds[order.message.app] ?? 0 {
            ledger.report(.holds, at: now, "\(who) although the provider asked to wait")
        }
        if now >= sender.tokensTold[order.credential] {
            ledger.report(.tokens, at: now, "\(who) without a token that is good")
        }
        if sender.pausedApps.contains(order.message.app) {
            ledger.report(.holds, at: now, "\(who) although it was told that the app is paused")
        }
        checkTimes(order, story, who)
        checkRate(app: order.message.app, of: sender, who)
        if order.message.isAtMostOnce {
            if let last = ledger.lastPosts[key.id], last.truth == .unknown || last.truth == .underWay {
                ledger.report(.atMostOnce, at: now, "\(who) again after an outcome that nobody knows")
            }
        }
        ledger.lastPosts[key.id] = post
        ledger[key].posts += 1
    }

    /// The lease lasts as long as the request may, and nothing is posted after its end of life.
    private func checkTimes(_ order: PostOrder, _ story: Ledger.ClaimStory, _ who: String) {
        guard lastClockJump < story.claimedAt - VirtualClock.second else { return }
        let key = order.message.key
        let row = queue[key.id]
        if row.state != .sending || row.claimNumber != key.claimNumber {
            ledger.report(.leases, at: now, "\(who), which is not its any more: \(row.state)#\(row.claimNumber)")
        } else if row.leaseUntil - databaseNow < plan.settings.requestTimeout {
            ledger.report(
                .leases, at: now, "\(who) with \((row.leaseUntil - databaseNow) / 1_000_000) ms of lease left")
        }
        guard let expires = row.expiresAt else { return }
        if expires < databaseNow { ledger.report(.expiry, at: now, "\(who) after it expired") }
        if Int64(order.secondsLeft ?? .max) > (expires - databaseNow) / VirtualClock.second + 1 {
            ledger.report(.expiry, at: now, "\(who) with a ttl that outlives it: \(order.secondsLeft ?? -1) s")
        }
    }

    private func checkRate(app: Int, of sender: SimulatedSender, _ who: String) {
        if rates[RateKey(sender: sender.number, app: app)]?.take(now: now) != true {
            ledger.report(.rate, at: now, "\(who) above its share of the rate")
        }
        // Each learns of the others when it asks for work: at least every ten seconds, and before that as often as it polls.
        guard now - lastMembershipChange > Self.timeToLearn, databaseSlowUntil < now - Self.timeToLearn else { return }
        let others = senders.filter { $0.isAlive && !$0.machine.isStopping }
        guard others.allSatisfy({ !$0.isInTrouble(now: now) }) else { return }
        let sum = others.reduce(0) { $0 + (rates[RateKey(sender: $1.number, app: app)]?.rate ?? 0) }
        if sum > Double(plan.apps[app - 1].messagesPerSecond + others.count) {
            ledger.report(.rate, at: now, "\(others.count) senders share \(sum) messages/s of app \(app)")
        }
    }

    static let timeToLearn = 13 * VirtualClock.second
}
