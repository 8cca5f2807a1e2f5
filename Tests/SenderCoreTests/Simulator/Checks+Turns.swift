import Operations
import Queue

@testable import SenderCore

/// What must hold after every turn of a sender, and when it ends.
extension Simulation {
    /// Turns at one moment, and turns in a second that brought nothing, beyond which a machine spins.
    private static let mostTurns = 100
    private static let mostIdleTurns = 60

    func checkTurn(of sender: SimulatedSender, events: Int, actions: Int) {
        let machine = sender.machine
        if machine.held > plan.settings.slots + plan.settings.prefetch + SenderMachine.urgentRoom {
            ledger.report(.memory, at: now, "sender \(sender.number) holds \(machine.held) messages")
        }
        let kept = machine.held + machine.results.count
        if kept != sender.owed {
            ledger.report(
                .resultsAreKept, at: now, "sender \(sender.number) owes \(sender.owed) results and has \(kept)")
        }
        if sender.turnsNow.time != now { sender.turnsNow = (now, 0) }
        sender.turnsNow.count += 1
        let second = now / VirtualClock.second
        if sender.idleTurns.second != second { sender.idleTurns = (second, 0) }
        if events == 0 && actions == 0 { sender.idleTurns.count += 1 }
        if sender.turnsNow.count > Self.mostTurns || sender.idleTurns.count > Self.mostIdleTurns {
            ledger.report(.spinning, at: now, "sender \(sender.number) turns without an end")
        }
        guard sender.wakeUp % 8 == 0 else { return }
        var copy = machine
        let again = copy.advance(now: now)
        if !again.isEmpty {
            ledger.report(.spinning, at: now, "sender \(sender.number), asked again at once, \(again[0].brief)")
        }
    }

    func checkEnd(of sender: SimulatedSender, _ exit: ExitCode, _ failure: Failure?) {
        let who = "sender \(sender.number) ends with \(exit) (\(failure?.what ?? "no failure"))"
        if exit == .ok && sender.owed > 0 {
            ledger.report(.machinesEndWell, at: now, "\(who) and still has \(sender.owed) messages")
        }
        let mayEnd = sender.hasBeenToldToStop || sender.machine.settings.drains || !sender.hadSuccess
        if !mayEnd { ledger.report(.machinesEndWell, at: now, "\(who) though it had sent before and nobody asked") }
        if isQuiet && exit != .ok { ledger.report(.machinesEndWell, at: now, "\(who) in a world without trouble") }
    }
}
