import Operations
import Postgres
import Queue
import Reactor

/// The queue's database as the loop sees it: one connection to find and claim work, one to record results, so that
/// neither waits for the other, and a third that listens and carries what is urgent.
///
/// The first two come and go together; the third by itself.
final class QueueDatabase {
    private let settings: QueueDatabaseSettings
    private let reactor: Reactor
    private let events: EventQueue
    private let listener: QueueListener
    private let housekeeper: Housekeeper

    private var work: DatabaseLane?
    private var results: DatabaseLane?
    private var isReady = false
    /// This process's row in `todoke.senders`; kept over reconnects.
    private(set) var senderID: Int?
    private var days: [Day] = []
    private var daysKnownUntil: Int64 = 0
    private var backoff = Backoff()
    /// Server processes that may still be busy with a statement that was given up.
    private var abandoned: [Int] = []
    /// What the database has of the duplicate risk.
    private var recordedRisk = 0

    init(_ settings: QueueDatabaseSettings, reactor: Reactor, events: EventQueue) {
        self.settings = settings
        self.reactor = reactor
        self.events = events
        listener = QueueListener(settings, reactor: reactor, events: events)
        housekeeper = Housekeeper(events: events)
        listener.requestTrial = { [unowned self] channel in requestTrial(channel) }
        listener.isOwn = { [unowned self] notification in
            [work, results].contains { $0?.backendProcessID == notification.senderProcessID }
        }
        housekeeper.send = { [unowned self] statement in work?.send(statement) }
    }

    /// When ``turn(now:)`` has something to do by itself.
    var deadline: Int64? {
        guard let work, let results else { return backoff.retryAt }
        return [work.deadline, results.deadline, isReady ? listener.deadline : nil].compactMap(\.self).min()
    }

    /// Connects when it is time, and gives up on a server that is silent.
    func turn(now: Int64) {
        if work == nil && now >= backoff.retryAt { connect(now: now) }
        work?.turn(now: now)
        results?.turn(now: now)
        if isReady { listener.turn(now: now) }
    }

    private func connect(now: Int64) {
        func lane() throws(PostgresError) -> DatabaseLane {
            try DatabaseLane(settings.conninfo, reactor: reactor, statementTimeout: settings.statementTimeout)
        }
        do {
            let lanes = (try lane(), try lane())
            work = lanes.0
            results = lanes.1
        } catch {
            lose(Failure(error, while: "connecting to the queue's database"))
            return
        }
        for lane in [work, results].compactMap(\.self) {
            lane.connected = { [unowned self, unowned lane] in laneConnected(lane) }
            lane.lost = { [unowned self] failure, _ in lose(failure) }
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

    /// A standby is as good as no server, and only it itself knows: what a pooler says about it may be old.
    private func laneConnected(_ lane: DatabaseLane) {
        lane.send(
            .init(kind: .heartbeat, sql: SenderRegistration.readOnlyQuestion) { [unowned self, unowned lane] result in
                guard result.bool(0, 0) == false else {
                    lane.lose(
                        Failure(
                            .unavailable, "the queue's database takes no writes: it is a standby, or read-only",
                            remedy: "name the primary in --database-url, or all servers: host=a,b"))
                    return
                }
                checkedLanes += 1
                if checkedLanes == 2 { register() }
            })
    }

    /// Lanes that are connected and take writes.
    private var checkedLanes = 0

    private func register() {
        guard senderID == nil else {
            becomeReady()
            return
        }
        work?.send(
            .init(
                kind: .heartbeat, sql: SenderRegistration.insert, parameters: settings.registration
            ) { [unowned self] result in
                senderID = result.int(0, 0)
                becomeReady()
            })
    }

    private func becomeReady() {
        isReady = true
        backoff.succeeded()
        daysKnownUntil = 0
        events.append(.databaseReady)
        guard !abandoned.isEmpty else { return }
        let seconds = Int(settings.statementTimeout / 1_000_000_000)
        work?.send(
            .init(
                kind: .heartbeat, sql: SenderRegistration.endAbandoned, parameters: [.array(abandoned), .int(seconds)]
            ) { [unowned self] _ in abandoned = [] })
    }

    private func lose(_ failure: Failure) {
        for lane in [work, results] {
            if let process = lane?.abandonedProcessID { abandoned.append(process) }
            lane?.close()
        }
        work = nil
        results = nil
        isReady = false
        checkedLanes = 0
        // Whether the last one was committed is not known.
        recordedRisk = 0
        backoff.failed(now: Reactor.now)
        events.append(.databaseLost(failure))
    }

    private func requestTrial(_ channel: String) -> Bool {
        guard isReady, let work else { return false }
        let statement = DatabaseLane.Statement(
            kind: .heartbeat, sql: "SELECT pg_notify($1, '')", parameters: [.text(channel)], completion: { _ in })
        work.send(statement, isFirst: true)
        return true
    }

    // MARK: What the machine asks

    func askWork() {
        let parameters: [Value] = [.array(settings.appNames.map { Optional($0) }), .optional(senderID)]
        perform(.work, Work.appsStatement, parameters) { [unowned self] result in
            let apps = Work.decodeApps(result)
            if Reactor.now < daysKnownUntil { return askDue(apps) }
            perform(.work, Work.daysStatement) { [unowned self] result in
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
        perform(.work, Work.dueStatement(apps: open, days: days)) { [unowned self] result in
            let answer = Work.decodeDue(result)
            var apps = apps
            for index in apps.indices {
                apps[index].oldestDueMilliseconds = answer.oldestDueMilliseconds[apps[index].id]
            }
            events.append(.work(apps: apps, due: answer.due, nextInMilliseconds: answer.nextInMilliseconds))
        }
    }

    func askUrgent(apps: [Int]) {
        guard !days.isEmpty, !apps.isEmpty else {
            events.append(.urgent(due: []))
            return
        }
        let statement = Work.dueStatement(apps: apps, days: days, priorities: Work.urgentPriorities)
        performUrgent(
            .init(kind: .urgent, sql: statement) { [unowned self] result in
                events.append(.urgent(due: Work.decodeDue(result).due))
            })
    }

    func claim(_ claim: Claim) {
        guard let senderID else { return }
        let askedAt = Reactor.now
        let sql = claim.statement(sender: senderID, leaseSeconds: settings.leaseSeconds)
        let statement = DatabaseLane.Statement(
            kind: claim.isUrgent ? .urgent : .claim, sql: sql, format: Claim.format
        ) { [unowned self] result in
            events.append(.claimed(claim, claim.decode(result), askedAt: askedAt))
        }
        if claim.isUrgent { performUrgent(statement) } else { work?.send(statement) }
    }

    /// On the listening connection, where nothing else stands in line; without it in front of what waits.
    private func performUrgent(_ statement: DatabaseLane.Statement) {
        if listener.carriesUrgent { listener.send(statement) } else { work?.send(statement, isFirst: true) }
    }

    func askUnfinished(apps: [Int]) {
        perform(.unfinished, Work.unfinishedStatement(apps: apps)) { [unowned self] result in
            events.append(.unfinished(result.bool(0, 0) ?? true))
        }
    }

    func rescue(apps: [Int]) {
        perform(.rescue, Rescue.statement(apps: apps)) { [unowned self] result in
            events.append(.rescued(count: result.int(0, 0) ?? 0))
        }
    }

    func keepHouse(apps: [Int], isThorough: Bool) {
        housekeeper.keep(apps: apps, days: days, isThorough: isThorough)
    }

    func heartbeat(_ vitals: SenderVitals) {
        perform(.heartbeat, SenderRegistration.heartbeat, values(vitals)) { [unowned self] result in
            if result.rowCount == 0 { registerAgain() } else { events.append(.heartbeatDone) }
        }
    }

    /// A failover lost the row, or somebody deleted it: without it others take this sender's part of the rate.
    ///
    /// The id stays the same, since it fences the results of what this sender holds.
    private func registerAgain() {
        let parameters = settings.registration + [.optional(senderID)]
        perform(.heartbeat, SenderRegistration.insertAgain, parameters) { [unowned self] _ in
            // The new row knows nothing of what was counted.
            recordedRisk = 0
            events.append(.registeredAgain)
            events.append(.heartbeatDone)
        }
    }

    func record(_ record: Record, duplicateRisk: Int) {
        guard let senderID else { return }
        let statement = record.statement(
            sender: senderID, duplicateRisk: duplicateRisk > recordedRisk ? duplicateRisk : 0)
        let completion = { [unowned self] (result: QueryResult) in
            recordedRisk = max(recordedRisk, duplicateRisk)
            events.append(.recorded(matched: result.int(0, 0) ?? 0))
        }
        results?.send(
            .init(kind: .record, sql: statement, parameters: record.parameters, completion: completion))
    }

    func verify(_ record: Record) {
        guard let senderID else { return }
        let statement = record.verification(sender: senderID)
        results?.send(
            .init(kind: .verify, sql: statement, parameters: record.parameters) { [unowned self] result in
                events.append(.verified(matched: result.int(0, 0) ?? 0))
            })
    }

    /// Signs off; `done` is called when the database knows, and not at all when it is lost.
    func farewell(_ vitals: SenderVitals, done: @escaping () -> Void) {
        perform(.heartbeat, SenderRegistration.farewell, values(vitals)) { _ in done() }
    }

    private func perform(
        _ kind: StatementKind, _ sql: String, _ parameters: [Value] = [],
        completion: @escaping (QueryResult) -> Void
    ) {
        work?.send(.init(kind: kind, sql: sql, parameters: parameters, completion: completion))
    }

    private func values(_ vitals: SenderVitals) -> [Value] {
        [
            .int(senderID ?? 0), .int(vitals.held), .int(vitals.duplicateRisk), .text(vitals.state),
            .text(String(vitals.rate)),
        ]
    }

    var canSignOff: Bool { isReady && senderID != nil }
}
