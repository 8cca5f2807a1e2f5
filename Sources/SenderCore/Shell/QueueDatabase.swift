import Operations
import Postgres
import Queue
import Reactor

/// The queue's database as the loop sees it: one connection to find and claim work, one to record results, so that
/// neither waits for the other, and a third that listens and carries what is urgent.
///
/// The first two come and go together; the third by itself.
final class QueueDatabase {
    let settings: QueueDatabaseSettings
    private let reactor: Reactor
    let events: EventQueue
    let listener: QueueListener
    let housekeeper: Housekeeper

    var work: DatabaseLane?
    var results: DatabaseLane?
    var isReady = false
    /// This process's row in `todoke.senders`; kept over reconnects.
    private(set) var senderID: Int?
    var days: [Day] = []
    var daysKnownUntil: Int64 = 0
    private var backoff = Backoff()
    /// Server processes that may still be busy with a statement that was given up.
    private var abandoned: [Int] = []
    /// What the database has of the duplicate risk.
    var recordedRisk = 0

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
                if checkedLanes == 2 { checkSchema() }
            })
    }

    /// A statement that the schema does not know would fail once there are results to record: too late.
    private func checkSchema() {
        work?.send(
            .init(kind: .heartbeat, sql: SenderRegistration.schemaQuestion) { [unowned self] result in
                let version = result.int(0, 0) ?? 0
                guard version >= SenderRegistration.schemaVersion else {
                    work?.lose(
                        Failure(
                            .configuration,
                            "the queue's schema is at version \(version), and this sender needs \(SenderRegistration.schemaVersion)",
                            remedy: "run the todoke migrate of this release first"))
                    return
                }
                register()
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
}
