import Curl
import Operations
import Queue
import Reactor

/// Performs what the machine asks for: the one loop of the sender, which waits in one place.
final class SenderLoop {
    private let reactor: Reactor
    private let events: EventQueue
    private let database: QueueDatabase
    private let provider: Provider
    private let tokens: [TokenFetcher]
    private let log: Log
    private var machine: SenderMachine
    private var ending: (exit: ExitCode, failure: Failure?)?
    private var tally = Tally()

    init(
        reactor: Reactor, events: EventQueue, database: QueueDatabase, provider: Provider, tokens: [TokenFetcher],
        log: Log, machine: SenderMachine
    ) {
        self.reactor = reactor
        self.events = events
        self.database = database
        self.provider = provider
        self.tokens = tokens
        self.log = log
        self.machine = machine
        for (index, fetcher) in tokens.enumerated() {
            fetcher.received = { (token) throws(CurlError) in try provider.use(accessToken: token, credential: index) }
        }
    }

    /// Runs until the machine is finished; gives back the exit code and why.
    func run() throws(ReactorError) -> (exit: ExitCode, failure: Failure?) {
        while true {
            let now = Reactor.now
            for event in events.drain() {
                tally.count(event)
                machine.receive(event, now: now)
            }
            for action in machine.advance(now: now) { perform(action) }
            if let ending {
                try signOff()
                if ending.failure == nil || !tally.isEmpty {
                    let counts = tally.fields(lostResults: machine.refusedResults, duplicateRisk: machine.duplicateRisk)
                    log.info("stopped", counts)
                }
                return ending
            }
            serveTimers()
            guard events.isEmpty else { continue }
            try wait(until: machine.nextDeadline(now: now))
        }
    }

    private func serveTimers() {
        let now = Reactor.now
        database.turn(now: now)
        provider.turn(now: now)
        for fetcher in tokens { fetcher.turn(now: now) }
    }

    private func wait(until deadline: Int64) throws(ReactorError) {
        let others = [database.deadline, provider.deadline] + tokens.map(\.deadline)
        let wakeUp = min(deadline, others.compactMap(\.self).min() ?? .max)
        _ = try reactor.wait(atMostNanoseconds: max(0, wakeUp - Reactor.now))
    }

    private func perform(_ action: SenderAction) {
        switch action {
        case .askWork: database.askWork()
        case .claim(let claim): database.claim(claim)
        case .askUnfinished(let apps): database.askUnfinished(apps: apps)
        case .record(let record): database.record(record, duplicateRisk: machine.duplicateRisk)
        case .verify(let record): database.verify(record)
        case .rescue(let apps): database.rescue(apps: apps)
        case .heartbeat(let vitals): database.heartbeat(vitals)
        case .askUrgent(let apps): database.askUrgent(apps: apps)
        case .keepHouse(let apps): database.keepHouse(apps: apps)
        case .refreshToken(let credential): tokens[credential].fetch()
        case .post(let order): provider.post(order)
        case .log(let entry): log.write(entry.level, entry.message, entry.fields)
        case .finish(let exit, let failure): ending = (exit, failure)
        }
    }

    /// Lets the database know that this sender ends in order; half a second is enough, or it shows by the heartbeat.
    private func signOff() throws(ReactorError) {
        guard database.canSignOff else { return }
        var isDone = false
        database.farewell(machine.takeVitals(now: Reactor.now)) { isDone = true }
        let deadline = Reactor.now + 500_000_000
        while !isDone && database.canSignOff && Reactor.now < deadline {
            _ = try reactor.wait(atMostNanoseconds: deadline - Reactor.now)
        }
    }
}
