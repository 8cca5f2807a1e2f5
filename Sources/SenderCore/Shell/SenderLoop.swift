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
    private let log: LimitedLog
    private let server: MetricsServer?
    private let health: SenderHealth
    private var machine: SenderMachine
    private var metrics: SenderMetrics
    private var ending: (exit: ExitCode, failure: Failure?)?

    init(
        reactor: Reactor, events: EventQueue, database: QueueDatabase, provider: Provider, tokens: [TokenFetcher],
        log: Log, machine: SenderMachine, server: MetricsServer?, health: SenderHealth
    ) {
        self.reactor = reactor
        self.events = events
        self.database = database
        self.provider = provider
        self.tokens = tokens
        self.log = LimitedLog(log)
        self.server = server
        self.health = health
        self.machine = machine
        metrics = SenderMetrics(settings: machine.settings, now: Reactor.now)
        for (index, fetcher) in tokens.enumerated() {
            fetcher.received = { (token, quotaProject) throws(CurlError) in
                try provider.use(accessToken: token, quotaProject: quotaProject, credential: index)
            }
        }
        server?.answer = { [unowned self] page in answer(page) }
    }

    /// Runs until the machine is finished; gives back the exit code and why.
    func run() throws(ReactorError) -> (exit: ExitCode, failure: Failure?) {
        while true {
            let now = Reactor.now
            for event in events.drain() {
                metrics.receive(event, now: now)
                machine.receive(event, now: now)
            }
            for action in machine.advance(now: now) { perform(action, now: now) }
            if let ending {
                try signOff()
                log.finish()
                if ending.failure == nil || !metrics.isEmpty {
                    let counts = metrics.fields(
                        lostResults: machine.refusedResults, duplicateRisk: machine.duplicateRisk)
                    log.write(.info, "stopped", counts, now: now)
                }
                return ending
            }
            serveTimers()
            server?.turn()
            guard events.isEmpty else { continue }
            try wait(until: machine.nextDeadline(now: now))
        }
    }

    private func serveTimers() {
        let now = Reactor.now
        database.turn(now: now)
        provider.turn(now: now)
        for fetcher in tokens { fetcher.turn(now: now) }
        log.turn(now: now)
    }

    private func wait(until deadline: Int64) throws(ReactorError) {
        let others = [database.deadline, provider.deadline, log.deadline] + tokens.map(\.deadline)
        let wakeUp = min(deadline, others.compactMap(\.self).min() ?? .max)
        let now = Reactor.now
        _ = try reactor.wait(atMostNanoseconds: min(max(0, wakeUp - now), server?.delay(now: now) ?? .max))
    }

    private func perform(_ action: SenderAction, now: Int64) {
        metrics.perform(action, now: now)
        switch action {
        case .askWork: database.askWork()
        case .claim(let claim): database.claim(claim)
        case .askUnfinished(let apps): database.askUnfinished(apps: apps)
        case .record(let record): database.record(record, duplicateRisk: machine.duplicateRisk)
        case .verify(let record): database.verify(record)
        case .rescue(let apps): database.rescue(apps: apps)
        case .heartbeat(let vitals): database.heartbeat(vitals)
        case .askUrgent(let apps): database.askUrgent(apps: apps)
        case .keepHouse(let apps, let isThorough): database.keepHouse(apps: apps, isThorough: isThorough)
        case .refreshToken(let credential): tokens[credential].fetch()
        case .post(let order): provider.post(order, now: now)
        case .log(let entry): log.write(entry.level, entry.message, entry.fields, now: now)
        case .finish(let exit, let failure): ending = (exit, failure)
        }
    }

    private func answer(_ page: MetricsServer.Page) -> MetricsServer.Answer {
        let now = Reactor.now
        let snapshot = machine.snapshot(now: now)
        switch page {
        case .metrics:
            let context = ScrapeContext(
                snapshot: snapshot, isReady: SenderHealth.notReady(snapshot).isEmpty,
                suppressedLines: log.suppressedTotal, connections: provider.connectionCounts,
                process: .current)
            return .init(type: Exposition.contentType, text: metrics.exposition(context))
        case .health:
            return .init(lines: health.stuck(metrics, snapshot, now: now), good: "ok")
        case .readiness: return .init(lines: SenderHealth.notReady(snapshot), good: "ready")
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
