import Delivery
import Queue

@testable import SenderCore

/// What is queued, when, and by transactions that are open for how long.
extension Simulation {
    func scheduleMessages() {
        var left = plan.messages
        unqueued = left
        var isFirst = true
        while left > 0 {
            let size = isFirst ? max(1, left * draw(3...8) / 10) : draw(1...min(left, 8))
            left -= size
            let delay = isFirst ? 0 : draw(0...plan.trouble)
            // Application code may enqueue in a transaction that stays open: `due_at` lies behind its COMMIT.
            let open = chance(300) ? draw(0...5_000) * VirtualClock.millisecond : 0
            after(delay) { world in
                let begun = world.databaseNow
                world.after(open) { $0.enqueue(size, begun: begun) }
            }
            isFirst = false
        }
    }

    private func enqueue(_ count: Int, begun: Int64) {
        guard isDatabaseUp else {
            // What the application does when its INSERT fails.
            after(VirtualClock.second) { $0.enqueue(count, begun: $0.databaseNow) }
            return
        }
        unqueued -= count
        let app = draw(1...plan.apps.count)
        let day = QueueModel.days[draw(0...QueueModel.days.count - 1)]
        let dueAt = begun + (chance(200) ? draw(0...20_000) * VirtualClock.millisecond : 0)
        let expiresAt = chance(300) ? dueAt + draw(500...40_000) * VirtualClock.millisecond : nil
        let priority = [5, 5, 5, 0, 9][draw(0...4)]
        queue.notifications.append(
            QueuedNotification(isAtMostOnce: draw(1...100) <= plan.shareOfAtMostOnce ? chance(800) : nil))
        for _ in 0..<count {
            let kind = draw(1...100)
            queue.insert(
                app: app, notification: queue.notifications.count - 1, priority: priority, day: day,
                nature: kind <= 4 ? .deadToken : kind <= 7 ? .badPayload : kind == 8 ? .wrongSender : .good,
                hasPayload: kind != 9, dueAt: dueAt, expiresAt: expiresAt)
        }
        ledger.made(messages: queue.messages.count)
        note(.world, (1, count, app), "\(count) messages of app \(app) with priority \(priority) are queued")
        wake(app: app)
    }

    /// As the statements do for rows that are due again at once.
    func wake(_ ids: [Int]) {
        for app in Set(ids.filter { queue[$0].state == .pending }.map { queue[$0].app }).sorted() { wake(app: app) }
    }

    private func wake(app: Int) {
        let name = plan.apps[app - 1].name
        for sender in senders where sender.isAlive && sender.isListening && !chance(isWell ? 0 : plan.lostWakeUps) {
            after(draw(100...5_000) * 1_000) { $0.deliver(.woken(app: name), to: sender) }
        }
    }

    /// Nobody sends it any more, but what is under way may arrive.
    func cancelSomething() {
        guard !queue.notifications.isEmpty else { return }
        let notification = draw(0...queue.notifications.count - 1)
        queue.notifications[notification].isCancelled = true
        note(.fault, (20, notification, 0), "notification \(notification) is cancelled")
        // As todoke.cancel does: what is pending and not locked ends at once.
        for id in queue.open
        where queue[id].notification == notification && queue[id].state == .pending && queue[id].lockedBy == 0 {
            queue.finish(id, .cancelled)
        }
    }
}
