import Operations
import Postgres
import Queue
import Reactor

/// The queue's database as the loop sees it: two connections, one to find and claim work, one to record results, so
/// that neither waits for the other.
///
/// They come and go together.
final class QueueDatabase {
    private let conninfo: Conninfo
    private let reactor: Reactor
    private let events: EventQueue
    private let registration: [Value]
    private let appNames: [String]
    private let leaseSeconds: Int

    private var work: DatabaseLane?
    private var results: DatabaseLane?
    private var isReady = false
    /// This process's row in `todoke.senders`; kept over reconnects.
    private(set) var senderID: Int?
    private var days: [Day] = []
    private var daysKnownUntil: Int64 = 0
    private var connectAt: Int64 = 0
    private var connectDeadline: Int64 = .max
    private var failures = 0

    init(
        _ conninfo: Conninfo, reactor: Reactor, events: EventQueue, registration: [Value], appNames: [String],
        leaseSeconds: Int
    ) {
        self.conninfo = conninfo
        self.reactor = reactor
        self.events = events
        self.registration = registration
        self.appNames = appNames
        self.leaseSeconds = leaseSeconds
    }

    /// When ``turn(now:)`` has something to do by itself.
    var deadline: Int64? {
        if isReady { return nil }
        return work == nil ? connectAt : connectDeadline
    }

    /// Connects when it is time, and gives up on a connect that hangs.
    func turn(now: Int64) {
        if work == nil && now >= connectAt {
            connect(now: now)
        } else if !isReady && work != nil && now >= connectDeadline {
            lose(
                Failure(
                    .unavailable, "connecting to the queue's database took longer than 15 s",
                    remedy: "check the network"))
        }
    }

    private func connect(now: Int64) {
        connectDeadline = now + 15_000_000_000
        do {
            let lanes = (try DatabaseLane(conninfo, reactor: reactor), try DatabaseLane(conninfo, reactor: reactor))
            work = lanes.0
            results = lanes.1
        } catch {
            lose(Failure(error, while: "connecting to the queue's database"))
            return
        }
        for lane in [work, results].compactMap(\.self) {
            lane.connected = { [unowned self, unowned lane] in laneConnected(lane) }
            lane.lost = { [unowned self] failure in lose(failure) }
            lane.failed = { [unowned self] kind, error in
                if isReady {
                    events.append(.statementFailed(kind, Failure(error, while: "the statement for \(kind)")))
                } else {
                    // Nothing works before the sender has its row.
                    lose(Failure(error, while: "registering this sender"))
                }
            }
            lane.start()
        }
    }

    private func laneConnected(_ lane: DatabaseLane) {
        // Logins do not inherit it from the role todoke_sender. Behind a pooling proxy it may be lost again, which costs
        // little: days are literals, and such plans stay far below the cost from which JIT starts.
        lane.send(.heartbeat, "SET jit = off") { _ in }
        guard let work, let results, work.isConnected, results.isConnected else { return }
        guard senderID == nil else {
            becomeReady()
            return
        }
        work.send(.heartbeat, SenderRegistration.insert, registration) { [unowned self] result in
            senderID = result.int(0, 0)
            becomeReady()
        }
    }

    private func becomeReady() {
        isReady = true
        failures = 0
        daysKnownUntil = 0
        events.append(.databaseReady)
    }

    private func lose(_ failure: Failure) {
        work?.close()
        results?.close()
        work = nil
        results = nil
        isReady = false
        failures += 1
        // 0.1 s, 0.2 s … 5 s; a server that restarts is back within seconds.
        connectAt = Reactor.now + min(5_000, 100 << min(failures - 1, 6)) * 1_000_000
        events.append(.databaseLost(failure))
    }

    func askWork() {
        work?.send(.work, Work.appsStatement, [.array(appNames.map { Optional($0) })]) { [unowned self] result in
            let apps = Work.decodeApps(result)
            if Reactor.now < daysKnownUntil { return askDue(apps) }
            work?.send(.work, Work.daysStatement) { [unowned self] result in
                days = Work.decodeDays(result)
                daysKnownUntil = Reactor.now + 30_000_000_000
                askDue(apps)
            }
        }
    }

    private func askDue(_ apps: [Work.App]) {
        let open = apps.filter { !$0.isPaused }.map(\.id)
        guard !open.isEmpty, !days.isEmpty else {
            events.append(.work(apps: apps, due: [], nextInMilliseconds: nil))
            return
        }
        work?.send(.work, Work.dueStatement(apps: open, days: days)) { [unowned self] result in
            let (due, next) = Work.decodeDue(result)
            events.append(.work(apps: apps, due: due, nextInMilliseconds: next))
        }
    }

    func askUrgent(apps: [Int]) {
        guard !days.isEmpty else {
            events.append(.urgent(due: []))
            return
        }
        let statement = Work.dueStatement(apps: apps, days: days, priorities: Work.urgentPriorities)
        work?.send(.urgent, statement) { [unowned self] result in
            events.append(.urgent(due: Work.decodeDue(result).due))
        }
    }

    func keepHouse(apps: [Int]) {
        work?.send(.housekeeping, Housekeeping.statement(apps: apps, days: days)) { [unowned self] result in
            events.append(.houseKept(expired: result.int(0, 0) ?? 0))
        }
    }

    func claim(_ claim: Claim) {
        guard let senderID else { return }
        let askedAt = Reactor.now
        work?.send(.claim, claim.statement(sender: senderID, leaseSeconds: leaseSeconds)) { [unowned self] result in
            events.append(.claimed(claim, claim.decode(result), askedAt: askedAt))
        }
    }

    func askUnfinished(apps: [Int]) {
        work?.send(.unfinished, Work.unfinishedStatement(apps: apps)) { [unowned self] result in
            events.append(.unfinished(result.bool(0, 0) ?? true))
        }
    }

    func rescue(apps: [Int]) {
        work?.send(.rescue, Rescue.statement(apps: apps)) { [unowned self] result in
            events.append(.rescued(count: result.int(0, 0) ?? 0))
        }
    }

    func heartbeat(_ vitals: SenderVitals) {
        work?.send(.heartbeat, SenderRegistration.heartbeat, values(vitals)) { [unowned self] _ in
            events.append(.heartbeatDone)
        }
    }

    func record(_ record: Record, duplicateRisk: Int) {
        guard let senderID else { return }
        let statement = record.statement(sender: senderID, duplicateRisk: duplicateRisk)
        results?.send(.record, statement, record.parameters) { [unowned self] result in
            events.append(.recorded(matched: result.int(0, 0) ?? 0))
        }
    }

    func verify(_ record: Record) {
        guard let senderID else { return }
        results?.send(.verify, record.verification(sender: senderID), record.parameters) { [unowned self] result in
            events.append(.verified(matched: result.int(0, 0) ?? 0))
        }
    }

    /// Signs off; `done` is called when the database knows, and not at all when it is lost.
    func farewell(_ vitals: SenderVitals, done: @escaping () -> Void) {
        work?.send(.heartbeat, SenderRegistration.farewell, values(vitals)) { _ in done() }
    }

    private func values(_ vitals: SenderVitals) -> [Value] {
        [
            .int(senderID ?? 0), .int(vitals.held), .int(vitals.duplicateRisk), .text(vitals.state),
            .text(String(vitals.rate)),
        ]
    }

    var canSignOff: Bool { isReady && senderID != nil }
}
