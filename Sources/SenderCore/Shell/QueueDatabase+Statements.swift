import Operations
import Postgres
import Queue
import Reactor

/// What the machine asks of the database: each question is one statement or a few, and ends as one event.
extension QueueDatabase {
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
            if record.marksDeadTokens, !result.isNull(0, 1) { events.append(.registryNote(result.string(0, 1))) }
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
