import Delivery
import Queue

@testable import SenderCore

/// A world of senders, one database and one provider, decided by one seed to the last nanosecond.
///
/// For a while everything that the plan names goes wrong; then nothing does any more, and the world runs until every
/// message has come to its end and every sender is quiet.
final class Simulation {
    let plan: SimulationPlan
    let flaw: Flaw?
    var random: SeededGenerator
    var clock = VirtualClock(now: 1_000 * VirtualClock.second)
    var trace: Trace
    var ledger = Ledger()

    var queue: QueueModel
    /// The database's clock less the machines'; it may jump.
    var databaseOffset: Int64 = 500 * VirtualClock.second
    var lastClockJump: Int64 = .min
    var isDatabaseUp = true
    /// Grows with each outage: transactions from before it are rolled back.
    var databaseEpoch = 0
    var databaseSlowUntil: Int64 = 0

    var provider: ProviderModel
    var senders: [SimulatedSender] = []
    var posts = 0
    /// Messages that are still to be queued.
    var unqueued = 0
    /// Since when the senders of an app may have wrong ideas of how many they are.
    var lastMembershipChange: Int64 = 0
    var rates: [RateKey: RateMeter] = [:]

    /// Whether nothing goes wrong any more.
    var isWell = false
    var isQuiet = false
    let start: Int64
    var wellAt: Int64 { start + plan.trouble }
    var now: Int64 { clock.now }
    var databaseNow: Int64 { clock.now + databaseOffset }

    init(seed: UInt64, flaw: Flaw? = nil, isTraced: Bool = false) {
        plan = SimulationPlan(seed: seed)
        self.flaw = flaw
        random = SeededGenerator(seed: ~seed)
        trace = Trace(isKept: isTraced)
        queue = QueueModel(apps: plan.apps, leaseSeconds: plan.settings.leaseSeconds, flaw: flaw)
        provider = ProviderModel(plan: plan)
        start = clock.now
    }

    /// What a run came to.
    struct Outcome {
        let hash: UInt64
        let violations: [Ledger.Violation]
        let lines: [String]
        let messages: Int
        let duplicates: Int
        let seconds: Double
    }

    /// The longest that a world without trouble may need: a whole lease, waits that the provider asked for, a breaker
    /// that opens for a minute, and every retry.
    private static let patience = 900 * VirtualClock.second

    func run() -> Outcome {
        scheduleMessages()
        for _ in 0..<plan.senders { after(draw(0...1_500) * VirtualClock.millisecond) { $0.startSender() } }
        for fault in plan.faults { schedule(fault) }
        at(wellAt) { $0.becomeWell() }
        let limit = wellAt + Self.patience
        while !isQuiet, ledger.violations.isEmpty || trace.isKept, let deed = clock.next(before: limit) { deed() }
        if isQuiet {
            endInOrder(limit: limit)
            checkAtTheEnd()
        } else if ledger.violations.isEmpty {
            reportWhatIsLeft()
        }
        return Outcome(
            hash: trace.hash, violations: ledger.violations, lines: trace.lines, messages: queue.messages.count,
            duplicates: ledger.processings.reduce(0) { $0 + max(0, $1.count - 1) },
            seconds: Double(now - start) / 1e9)
    }

    // MARK: Chance and time

    func draw(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

    func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    func chance(_ perMille: Int) -> Bool { perMille > 0 && draw(1...1_000) <= perMille }

    func at(_ time: Int64, _ deed: @escaping (Simulation) -> Void) {
        // The clock belongs to this simulation and does not outlive it.
        clock.at(time) { [unowned self] in deed(self) }
    }

    func after(_ delay: Int64, _ deed: @escaping (Simulation) -> Void) { at(now + delay, deed) }

    func note(_ kind: Trace.Kind, _ numbers: (Int, Int, Int), _ text: @autoclosure () -> String) {
        trace.note(kind, numbers, at: now - start, text())
    }

    // MARK: The end

    private func becomeWell() {
        note(.world, (0, 0, 0), "no more trouble from here")
        isWell = true
        databaseSlowUntil = 0
        provider.heal()
        for index in queue.apps.indices { queue.apps[index].isPaused = false }
        for id in queue.open where queue[id].lockedBy < 0 { queue[id].lockedBy = 0 }
        for sender in senders where sender.isAlive { change(capacity: plan.settings.slots, of: sender) }
        if !isDatabaseUp { databaseComesBack() }
        keepOneSender()
        after(VirtualClock.second) { $0.lookWhetherQuiet() }
    }

    /// At least one sender that stays is there until the end, as with any process manager.
    func keepOneSender() {
        let staying = senders.contains { $0.isAlive && !$0.hasBeenToldToStop && !$0.machine.isStopping }
        if !staying { startSender() }
    }

    private func lookWhetherQuiet() {
        guard isWell else { return }
        keepOneSender()
        let isBusy = senders.contains { sender in
            sender.isAlive && (sender.owed > 0 || !sender.posts.isEmpty || sender.isInTrouble(now: now))
        }
        if queue.open.isEmpty && unqueued == 0 && !isBusy {
            isQuiet = true
            return
        }
        after(VirtualClock.second) { $0.lookWhetherQuiet() }
    }

    /// A stop in a world that is well ends every sender with 0 and nothing left.
    private func endInOrder(limit: Int64) {
        // A second stop would cut short what the first one waits for.
        for sender in senders where sender.isAlive && !sender.machine.isStopping { tellToStop(sender) }
        let deadline = min(limit, now + plan.settings.stopTimeout + VirtualClock.second)
        while senders.contains(where: { $0.isAlive }), let deed = clock.next(before: deadline) { deed() }
        for sender in senders where sender.isAlive {
            ledger.report(.machinesEndWell, at: now, "sender \(sender.number) did not end after a stop")
        }
    }
}
