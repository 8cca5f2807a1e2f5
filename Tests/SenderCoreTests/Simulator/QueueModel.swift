import Delivery
import Queue

/// The queue's tables and what the sender's statements do to them.
///
/// Each function is one statement of `Sources/Queue` word by word; `now` is the start of its transaction by the
/// database's clock. Ids are positions, from 1.
struct QueueModel {
    static let days = ["2026-11-29", "2026-11-30"].compactMap { Day($0) }

    var messages: [QueuedMessage] = []
    var notifications: [QueuedNotification] = []
    var apps: [QueuedApp]
    /// By sender id, from 1.
    var senders: [RegisteredSender] = []
    let leaseSeconds: Int
    /// A mistake that a test wants in here.
    let flaw: Flaw?
    /// Messages that are not at their end, in id order.
    private(set) var open: [Int] = []
    private var transactions = 0

    init(apps: [QueuedApp], leaseSeconds: Int, flaw: Flaw?) {
        self.apps = apps
        self.leaseSeconds = leaseSeconds
        self.flaw = flaw
    }

    subscript(id: Int) -> QueuedMessage {
        get { messages[id - 1] }
        set { messages[id - 1] = newValue }
    }

    mutating func insert(
        app: Int, notification: Int, priority: Int, day: Day, nature: QueuedMessage.Nature, hasPayload: Bool,
        dueAt: Int64, expiresAt: Int64?
    ) {
        let id = messages.count + 1
        messages.append(
            QueuedMessage(
                id: id, day: day, app: app, notification: notification, priority: priority, nature: nature,
                hasPayload: hasPayload, expiresAt: expiresAt, madeDueAt: dueAt, dueAt: dueAt))
        open.append(id)
    }

    mutating func begin() -> Int {
        transactions += 1
        return transactions
    }

    mutating func unlock(_ ids: [Int], by transaction: Int) {
        for id in ids where self[id].lockedBy == transaction { self[id].lockedBy = 0 }
    }

    mutating func finish(_ id: Int, _ state: MessageState) {
        self[id].state = state
        self[id].leaseUntil = 0
        open.removeAll { $0 == id }
    }

    func isAtMostOnce(_ id: Int) -> Bool {
        notifications[self[id].notification].isAtMostOnce ?? apps[self[id].app - 1].isAtMostOnce
    }

    func isCancelled(_ id: Int) -> Bool { notifications[self[id].notification].isCancelled }

    // MARK: Senders

    mutating func register(now: Int64) -> Int {
        senders.append(RegisteredSender(heartbeatAt: now))
        return senders.count
    }

    mutating func heartbeat(sender: Int, duplicateRisk: Int, now: Int64) {
        senders[sender - 1].heartbeatAt = now
        senders[sender - 1].duplicateRisk = duplicateRisk
    }

    func liveSenders(askedBy row: Int, now: Int64) -> Int {
        if flaw == .everybodyIsAlone { return 1 }
        let horizon = now - Int64(Work.heartbeatSeconds * 3) * 1_000_000_000
        return senders.indices.count {
            $0 + 1 == row || (!senders[$0].isStopped && senders[$0].heartbeatAt > horizon)
        }
    }

    // MARK: Looking for work

    func work(askedBy row: Int, now: Int64) -> (apps: [Work.App], due: [Work.Due], nextInMilliseconds: Int?) {
        let live = liveSenders(askedBy: row, now: now)
        let found = apps.map {
            Work.App(
                id: $0.id, name: $0.name, projectID: $0.name, isPaused: $0.isPaused,
                messagesPerSecond: $0.messagesPerSecond, liveSenders: live, isAtMostOnce: $0.isAtMostOnce)
        }
        let (due, next) = due(apps: apps.filter { !$0.isPaused }.map(\.id), priorities: 0...9, now: now)
        return (found, due, next)
    }

    /// Where something is due, higher priorities and older days first, and when something is due elsewhere.
    func due(
        apps: [Int], priorities: ClosedRange<Int>, now: Int64
    ) -> (due: [Work.Due], nextInMilliseconds: Int?) {
        var earliest: [Work.Due: Int64] = [:]
        for id in open where self[id].state == .pending {
            let message = self[id]
            guard apps.contains(message.app), priorities.contains(message.priority) else { continue }
            let place = Work.Due(app: message.app, priority: message.priority, day: message.day)
            earliest[place] = min(earliest[place] ?? .max, message.dueAt)
        }
        var due: [Work.Due] = []
        var next: Int?
        for (place, time) in earliest {
            if time <= now {
                due.append(place)
            } else {
                next = min(next ?? .max, Int((time - now + 999_999) / 1_000_000))
            }
        }
        due.sort { ($1.priority, $0.day.description, $0.app) < ($0.priority, $1.day.description, $1.app) }
        return (due, next)
    }

    func unfinished(apps: [Int]) -> Bool {
        open.contains { id in
            apps.contains(self[id].app)
                && (self[id].state == .sending || (self[id].state == .pending && self[id].claimNumber > 0))
        }
    }
}
