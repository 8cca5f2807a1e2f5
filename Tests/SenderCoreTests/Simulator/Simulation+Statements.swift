import Queue

@testable import SenderCore

/// Statements under way: they begin, hold their locks, commit and are answered, each at its time, and can end at each.
extension Simulation {
    private enum Fate {
        case answered, refused
        /// The connection breaks; the transaction is rolled back, or committed before, or committed some time later.
        case lostBeforeCommit, lostAfterCommit, lostWhileRunning
    }

    /// Nanoseconds to or from the database.
    func databaseLatency() -> Int64 {
        draw(Int64(100_000)...3_000_000) + (databaseSlowUntil > now ? draw(0...1_500) * VirtualClock.millisecond : 0)
    }

    private func drawFate() -> Fate {
        guard !isWell, chance(plan.statementsInTrouble) else { return .answered }
        return [.refused, .lostBeforeCommit, .lostAfterCommit, .lostWhileRunning][draw(0...3)]
    }

    func run(_ statement: SimulatedStatement, on lane: SimulatedSender.Lane, of sender: SimulatedSender) {
        guard let row = sender.row else { return }
        let connection = sender.connection
        let fate = drawFate()
        after(databaseLatency()) { world in
            guard world.isDatabaseUp else { return }
            world.begin(statement, row: row, fate: fate) { world, event in
                world.close(statement, on: lane, of: sender, connection: connection, fate: fate, event: event)
            }
            if fate == .lostWhileRunning, sender.connection == connection { world.lose(sender) }
        }
    }

    private func close(
        _ statement: SimulatedStatement, on lane: SimulatedSender.Lane, of sender: SimulatedSender, connection: Int,
        fate: Fate, event: SenderEvent?
    ) {
        if now - statement.askedAt > 500 * VirtualClock.millisecond { sender.lastTrouble = now }
        after(databaseLatency()) { world in
            guard sender.isAlive, sender.connection == connection else { return }
            switch fate {
            case .refused: world.refuse(statement, on: lane, of: sender, connection: connection)
            case .lostBeforeCommit, .lostAfterCommit: world.lose(sender)
            case .answered, .lostWhileRunning:
                sender.wasAnswered(statement)
                world.answer(event, on: lane, of: sender, connection: connection)
            }
        }
    }

    private func begin(
        _ statement: SimulatedStatement, row: Int, fate: Fate, done: @escaping (Simulation, SenderEvent?) -> Void
    ) {
        let transaction = queue.begin()
        let began = databaseNow
        var picked: [Int] = []
        switch statement.work {
        case .claim(let claim): picked = queue.pick(claim, transaction: transaction, now: began)
        case .rescue(let apps): picked = queue.pickLost(apps: apps, transaction: transaction, now: began)
        default: break
        }
        var duration = draw(Int64(100_000)...5_000_000)
        if fate == .lostWhileRunning { duration = draw(0...4_000) * VirtualClock.millisecond }
        commit(
            Transaction(
                statement: statement, row: row, number: transaction, began: began, picked: picked,
                isRolledBack: fate == .refused || fate == .lostBeforeCommit, epoch: databaseEpoch),
            after: duration, done: done)
    }

    private func commit(
        _ transaction: Transaction, after delay: Int64, done: @escaping (Simulation, SenderEvent?) -> Void
    ) {
        after(delay) { world in
            guard world.isDatabaseUp, world.databaseEpoch == transaction.epoch else { return }
            if transaction.isRolledBack {
                world.queue.unlock(transaction.picked, by: transaction.number)
                done(world, nil)
            } else if case .record(let record, _) = transaction.statement.work, world.queue.mustWait(record) {
                world.commit(transaction, after: 2 * VirtualClock.millisecond, done: done)
            } else {
                done(world, world.execute(transaction))
            }
        }
    }

    // MARK: Outages

    /// Everything that was not committed is gone, and so are all connections.
    func databaseGoesDown(for duration: Int64) {
        guard isDatabaseUp else { return }
        note(.fault, (3, 0, 0), "the database is down")
        isDatabaseUp = false
        databaseEpoch += 1
        for id in queue.open { queue[id].lockedBy = 0 }
        for sender in senders where sender.isAlive && sender.isReady {
            let connection = sender.connection
            sender.lastTrouble = now
            after(draw(0...200) * VirtualClock.millisecond) { world in
                if sender.connection == connection { world.lose(sender) }
            }
        }
        after(duration) { $0.databaseComesBack() }
    }

    func databaseComesBack() {
        guard !isDatabaseUp else { return }
        note(.world, (4, 0, 0), "the database is back")
        isDatabaseUp = true
        lastMembershipChange = now
    }
}

/// A statement that has begun.
struct Transaction {
    let statement: SimulatedStatement
    /// The sender's id in the database.
    let row: Int
    let number: Int
    /// What `now()` says in it.
    let began: Int64
    let picked: [Int]
    let isRolledBack: Bool
    let epoch: Int
}
