import Operations
import Queue

@testable import SenderCore

/// A sender's connections to the database, as its shell keeps them: they come and go together, and each has a line of
/// statements of which one is under way.
extension Simulation {
    static let databaseIsLost = Failure(.unavailable, "the database is lost", remedy: "wait")
    static let statementIsRefused = Failure(.temporary, "the statement failed", remedy: "wait")

    func connect(_ sender: SimulatedSender) {
        let connection = sender.connection
        after(databaseLatency() * 3) { world in
            guard sender.isAlive, sender.connection == connection else { return }
            guard world.isDatabaseUp, world.isWell || !world.chance(world.plan.statementsInTrouble) else {
                world.lose(sender)
                return
            }
            if sender.row == nil { sender.row = world.queue.register(now: world.databaseNow) }
            world.lastMembershipChange = world.now
            sender.isReady = true
            sender.failedConnects = 0
            sender.lastTrouble = world.now
            world.deliver(.databaseReady, to: sender)
            if world.plan.listens { world.listen(sender) }
        }
    }

    /// A connection that listens; whoever was away from it has to look everywhere.
    func listen(_ sender: SimulatedSender) {
        let connection = sender.connection
        after(databaseLatency()) { world in
            guard sender.connection == connection, sender.isReady, !sender.isListening else { return }
            sender.isListening = true
            world.deliver(.listening(true), to: sender)
            world.deliver(.woken(app: nil), to: sender)
        }
    }

    func stopListening(_ sender: SimulatedSender) {
        guard sender.isListening else { return }
        sender.isListening = false
        deliver(.listening(false), to: sender)
    }

    /// All that waits for an answer is dropped without a word; what is under way may be committed all the same.
    func lose(_ sender: SimulatedSender) {
        guard sender.isAlive else { return }
        note(.fault, (2, sender.number, 0), "sender \(sender.number) loses the database")
        sender.connection += 1
        sender.isReady = false
        sender.lastTrouble = now
        lastMembershipChange = now
        if flaw == .resultsAreDroppedWithTheDatabase { dropResults(of: sender) }
        sender.waiting = [[], [], []]
        sender.current = [nil, nil, nil]
        stopListening(sender)
        deliver(.databaseLost(Self.databaseIsLost), to: sender)
        sender.failedConnects += 1
        let pause = min(5_000, Int64(100) << Int64(min(sender.failedConnects - 1, 6))) * VirtualClock.millisecond
        let connection = sender.connection
        after(pause) { world in if sender.isAlive, sender.connection == connection { world.connect(sender) } }
    }

    private func dropResults(of sender: SimulatedSender) {
        let lane = SimulatedSender.Lane.results.rawValue
        for statement in ([sender.current[lane]] + sender.waiting[lane]).compactMap(\.self) {
            if case .record(let record, _) = statement.work {
                deliver(.recorded(matched: record.results.count), to: sender)
            }
        }
    }

    // MARK: Lines of statements

    func send(_ work: SimulatedStatement.Work, on lane: SimulatedSender.Lane, of sender: SimulatedSender) {
        guard sender.isReady else { return }
        sender.waiting[lane.rawValue].append(SimulatedStatement(work: work, askedAt: now))
        sendNext(on: lane, of: sender)
    }

    func sendNext(on lane: SimulatedSender.Lane, of sender: SimulatedSender) {
        guard sender.isReady, sender.current[lane.rawValue] == nil, !sender.waiting[lane.rawValue].isEmpty else {
            return
        }
        let statement = sender.waiting[lane.rawValue].removeFirst()
        sender.current[lane.rawValue] = statement
        run(statement, on: lane, of: sender)
    }

    /// The answer has come back to the shell, if that connection is still the one it has.
    func answer(_ event: SenderEvent?, on lane: SimulatedSender.Lane, of sender: SimulatedSender, connection: Int) {
        guard sender.isAlive, sender.connection == connection else { return }
        sender.current[lane.rawValue] = nil
        if let event {
            deliver(event, to: sender)
            if flaw == .claimsAreAnsweredTwice, case .claimed = event { deliver(event, to: sender) }
        }
        sendNext(on: lane, of: sender)
    }

    /// Those of its kind behind a statement that failed belong to the same group, which the machine sends again whole.
    func refuse(
        _ statement: SimulatedStatement, on lane: SimulatedSender.Lane, of sender: SimulatedSender, connection: Int
    ) {
        guard sender.isAlive, sender.connection == connection else { return }
        sender.lastTrouble = now
        sender.waiting[lane.rawValue].removeAll { $0.kind == statement.kind }
        answer(.statementFailed(statement.kind, Self.statementIsRefused), on: lane, of: sender, connection: connection)
    }
}
