import Queue

@testable import SenderCore

/// Trouble at moments that nobody chose.
extension Simulation {
    func schedule(_ fault: SimulationPlan.Fault) {
        for _ in 0..<draw(1...3) { after(draw(0...plan.trouble)) { world in if !world.isWell { world.cause(fault) } } }
    }

    private func spell(_ milliseconds: ClosedRange<Int64>) -> Int64 { draw(milliseconds) * VirtualClock.millisecond }

    private func cause(_ fault: SimulationPlan.Fault) {
        switch fault {
        case .outage: databaseGoesDown(for: spell(100...25_000))
        case .slowDatabase:
            databaseSlowUntil = max(databaseSlowUntil, now + spell(500...6_000))
            note(.fault, (6, 0, 0), "the database is slow")
        case .rowLocks: lockRows(for: spell(100...5_000))
        case .clockJump:
            databaseOffset += spell(-20_000...20_000)
            lastClockJump = now
            lastMembershipChange = now
            note(.fault, (7, 0, 0), "the database's clock jumps")
        case .newcomer: startSender()
        case .cancel: cancelSomething()
        case .appPause: pauseApp(for: spell(500...8_000))
        case .oldProtocol, .tokenRevoked, .tokenEndpoint, .badCredentials: disturbProvider(fault)
        case .kill, .stop, .pause, .slowTurns, .connectionLoss, .listenerLoss, .streamLoss, .capacity, .newKey:
            let living = senders.filter { $0.isAlive }
            guard !living.isEmpty else { return }
            disturb(living[draw(0...living.count - 1)], fault)
        }
    }

    private func disturb(_ sender: SimulatedSender, _ fault: SimulationPlan.Fault) {
        note(.fault, (8, sender.number, 0), "\(fault) for sender \(sender.number)")
        switch fault {
        case .kill: kill(sender)
        case .stop:
            tellToStop(sender)
            if chance(500) { after(spell(0...3_000)) { $0.deliver(.stopRequested, to: sender) } }
        case .pause:
            sender.pausedUntil = max(sender.pausedUntil, now + spell(500...30_000))
            sender.lastTrouble = sender.pausedUntil
            at(sender.pausedUntil) { $0.lastMembershipChange = $0.now }
        case .slowTurns:
            sender.slowUntil = max(sender.slowUntil, now + spell(1_000...6_000))
            sender.lastTrouble = max(sender.lastTrouble, sender.slowUntil + 2 * VirtualClock.second)
            at(sender.lastTrouble) { $0.lastMembershipChange = $0.now }
        case .connectionLoss: if sender.isReady { lose(sender) }
        case .listenerLoss:
            stopListening(sender)
            after(spell(100...5_000)) { if $0.plan.listens { $0.listen(sender) } }
        case .streamLoss: loseStreams(of: sender)
        case .capacity:
            change(capacity: draw(0...plan.settings.slots), of: sender)
            after(spell(200...20_000)) { $0.change(capacity: $0.plan.settings.slots, of: sender) }
        case .newKey: deliver(.credentialReplaced(draw(0...provider.tokenEpochs.count - 1)), to: sender)
        default: break
        }
    }

    private func disturbProvider(_ fault: SimulationPlan.Fault) {
        let credential = draw(0...provider.tokenEpochs.count - 1)
        note(.fault, (9, credential, 0), "\(fault) of credential \(credential)")
        switch fault {
        case .oldProtocol:
            provider.speaksOldProtocol = true
            after(spell(200...5_000)) { $0.provider.speaksOldProtocol = false }
        case .tokenRevoked: provider.tokenEpochs[credential] += 1
        case .tokenEndpoint:
            provider.refusesTokens[credential] = true
            after(spell(500...10_000)) { $0.provider.refusesTokens[credential] = false }
        case .badCredentials:
            provider.refusesUs[credential] = true
            after(spell(500...8_000)) { $0.provider.refusesUs[credential] = false }
        default: break
        }
    }

    /// Somebody's open transaction, perhaps a person's at a prompt.
    private func lockRows(for duration: Int64) {
        let number = -queue.begin()
        let rows = queue.open.filter { id in queue[id].lockedBy == 0 && chance(300) }
        for id in rows { queue[id].lockedBy = number }
        note(.fault, (10, rows.count, 0), "\(rows.count) rows are locked")
        after(duration) { $0.queue.unlock(rows, by: number) }
    }

    private func pauseApp(for duration: Int64) {
        let index = draw(0...queue.apps.count - 1)
        note(.fault, (11, index, 0), "app \(index + 1) is paused")
        queue.apps[index].isPaused = true
        after(duration) { $0.queue.apps[index].isPaused = false }
    }
}
