import Operations
import Queue

@testable import SenderCore

/// Processes: how they start, hear, decide and end.
extension Simulation {
    func startSender() {
        var settings = plan.settings
        // Somebody has to be there for what is due later.
        if isWell { settings.drains = false }
        if flaw == .leasesSeemLonger { settings.leaseSeconds *= 4 }
        let number = senders.count + 1
        let machine = SenderMachine(settings: settings, seed: random.next(), now: now)
        let sender = SimulatedSender(number: number, machine: machine, settings: settings, now: now)
        senders.append(sender)
        note(.world, (2, number, 0), "sender \(number) starts")
        connect(sender)
        planTurn(of: sender)
    }

    func deliver(_ event: SenderEvent, to sender: SimulatedSender) {
        guard sender.isAlive else { return }
        sender.inbox.append(event)
        planTurn(of: sender)
    }

    /// A process that is stopped by SIGSTOP, or that gets no time, hears of everything later and at once.
    private func planTurn(of sender: SimulatedSender) {
        guard sender.isAlive, !sender.isTurnPlanned else { return }
        sender.isTurnPlanned = true
        var delay = draw(Int64(1_000)...50_000)
        if sender.slowUntil > now { delay += draw(0...1_500) * VirtualClock.millisecond }
        at(max(now + delay, sender.pausedUntil)) { $0.turn(of: sender) }
    }

    private func turn(of sender: SimulatedSender) {
        guard sender.isAlive else { return }
        guard now >= sender.pausedUntil else {
            at(sender.pausedUntil) { $0.turn(of: sender) }
            return
        }
        sender.isTurnPlanned = false
        let events = sender.inbox
        sender.inbox = []
        for event in events {
            note(.event, (sender.number, event.number, 0), "sender \(sender.number) hears \(event.brief)")
            told(event, to: sender)
            sender.machine.receive(event, now: now)
        }
        let actions = sender.machine.advance(now: now)
        checkTurn(of: sender, events: events.count, actions: actions.count)
        for action in actions where sender.isAlive { perform(action, of: sender) }
        guard sender.isAlive else { return }
        let deadline = sender.machine.nextDeadline(now: now)
        if deadline <= now {
            ledger.report(.spinning, at: now, "sender \(sender.number) wants to be asked again at once")
        }
        sender.wakeUp += 1
        let wakeUp = sender.wakeUp
        at(deadline) { world in if sender.wakeUp == wakeUp { world.planTurn(of: sender) } }
    }

    private func perform(_ action: SenderAction, of sender: SimulatedSender) {
        note(.action, (sender.number, action.number, action.detail), "sender \(sender.number) \(action.brief)")
        switch action {
        case .askWork: send(.work, on: .work, of: sender)
        case .askUrgent(let apps): send(.urgent(apps: apps), on: urgentLane(of: sender), of: sender)
        case .claim(let claim):
            send(.claim(claim), on: claim.isUrgent ? urgentLane(of: sender) : .work, of: sender)
        case .askUnfinished(let apps): send(.unfinished(apps: apps), on: .work, of: sender)
        case .record(let record):
            send(.record(record, duplicateRisk: sender.machine.duplicateRisk), on: .results, of: sender)
        case .verify(let record): send(.verify(record), on: .results, of: sender)
        case .rescue(let apps): send(.rescue(apps: apps), on: .work, of: sender)
        case .keepHouse(let apps, _): send(.keepHouse(apps: apps), on: .work, of: sender)
        case .heartbeat(let vitals): send(.heartbeat(vitals), on: .work, of: sender)
        case .refreshToken(let credential): fetchToken(credential, for: sender)
        case .post(let order):
            post(order, of: sender)
            if flaw == .ordersArePostedTwice && chance(200) { post(order, of: sender) }
        case .log: break
        case .finish(let exit, let failure): finish(sender, exit, failure)
        }
    }

    private func urgentLane(of sender: SimulatedSender) -> SimulatedSender.Lane { sender.isListening ? .urgent : .work }

    func tellToStop(_ sender: SimulatedSender) {
        sender.hasBeenToldToStop = true
        deliver(.stopRequested, to: sender)
    }

    private func finish(_ sender: SimulatedSender, _ exit: ExitCode, _ failure: Failure?) {
        checkEnd(of: sender, exit, failure)
        if sender.isReady, isDatabaseUp, let row = sender.row {
            queue.senders[row - 1].isStopped = true
            queue.senders[row - 1].duplicateRisk = sender.machine.duplicateRisk
        }
        end(sender, exit == .ok ? .ok : .gaveUp)
    }

    /// `kill -9`: what is with the database or the provider goes its way, and nobody hears of it.
    func kill(_ sender: SimulatedSender) {
        note(.fault, (1, sender.number, 0), "sender \(sender.number) is killed")
        end(sender, .killed)
    }

    private func end(_ sender: SimulatedSender, _ exit: SimulatedSender.ExitKind) {
        sender.isAlive = false
        sender.exit = exit
        sender.inbox = []
        sender.connection += 1
        sender.lastTrouble = now
        lastMembershipChange = now
        for slot in sender.posts.keys.sorted() { sender.posts[slot]?.isOver = true }
        // A process manager starts it again.
        guard !isQuiet else { return }
        after(draw(0...3_000) * VirtualClock.millisecond) { world in
            if !world.isQuiet && world.senders.count(where: { $0.isAlive }) < world.plan.senders { world.startSender() }
        }
    }
}
