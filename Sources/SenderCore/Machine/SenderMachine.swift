import Delivery
import Operations
import Queue

/// The sender's decisions as a pure value: events in, actions out, time passed in; no C, no I/O, no clock.
///
/// The shell calls ``receive(_:now:)`` for everything that happened in a turn and then ``advance(now:)`` once, and
/// performs what comes back. Times are monotonic nanoseconds.
///
/// What it holds to: a claimed message is in exactly one place (ready, on a stream, or in a result not yet recorded);
/// a result leaves memory only when the database has it; an attempt is spent only for an answer about the message.
package struct SenderMachine: Sendable {
    let settings: MachineSettings
    var random: SeededGenerator

    var apps: [AppState]
    var slots: SlotTable
    /// Requests that the provider's connections can carry.
    var capacity: Int
    var results = ResultBuffer()

    var isDatabaseReady = false
    var hadDatabase = false
    var databaseFault: Failure?
    var databaseLostAt: Int64 = 0
    var due: [Work.Due] = []
    var workAskedFor: Set<StatementKind> = []
    var nextWorkAt: Int64 = 0
    var nextRescueAt: Int64 = 0
    var nextHeartbeatAt: Int64 = 0
    var nextDrainCheckAt: Int64 = 0
    var claimedSinceWork = false
    var knowsWork = false
    /// Whether wake-ups come, so that polling is only a fallback.
    var isListening = false
    /// Apps that were woken for and not yet asked about.
    var urgentApps: Set<Int> = []
    var nextHousekeepingAt: Int64

    /// Since when a kind of statement has failed without having worked in between.
    var failingSince: [StatementKind: Int64] = [:]

    /// One for each of the sender's credentials.
    var tokens: [TokenState]
    var hadSuccess = false
    /// Second issues by libcurl and resends after an unknown outcome: each may be a duplicate on a device.
    package private(set) var duplicateRisk = 0
    /// Results that found their lease gone and were not recorded.
    package internal(set) var refusedResults = 0

    var sentSinceVitals = 0
    var vitalsTakenAt: Int64
    /// Longer than any sender waits before it tries the database again.
    private static let rescueGrace: Int64 = 6_000_000_000

    let startedAt: Int64
    /// Why the sender stops, when nobody asked for it.
    var stopFailure: Failure?
    var stopDeadline: Int64?
    var isFinished = false
    var actions: [SenderAction] = []

    package init(settings: MachineSettings, seed: UInt64, now: Int64) {
        self.settings = settings
        random = SeededGenerator(seed: seed)
        apps = settings.apps.map { AppState($0, now: now) }
        tokens = Array(repeating: TokenState(), count: 1 + (settings.apps.map(\.credential).max() ?? 0))
        capacity = settings.slots
        slots = SlotTable(count: settings.slots)
        startedAt = now
        vitalsTakenAt = now
        nextRescueAt = now
        nextHousekeepingAt = now
        nextHeartbeatAt = now + Int64(Work.heartbeatSeconds) * 1_000_000_000
    }

    /// Messages this sender holds: ready to post or on a stream.
    package var held: Int { slots.inFlight + apps.reduce(0) { $0 + $1.ready.count } }
    package var inFlight: Int { slots.inFlight }
    var isStopping: Bool { stopDeadline != nil }

    /// Takes note of what happened; what follows from it comes out of ``advance(now:)``.
    package mutating func receive(_ event: SenderEvent, now: Int64) {
        switch event {
        case .databaseReady:
            isDatabaseReady = true
            // After an outage longer than a lease every sender comes back with results to record: they go first.
            if hadDatabase { nextRescueAt = max(nextRescueAt, now + Self.rescueGrace) }
            hadDatabase = true
            databaseFault = nil
            workAskedFor = []
            nextWorkAt = now
            results.sendAgain()
        case .databaseLost(let failure):
            isDatabaseReady = false
            if databaseFault == nil { databaseLostAt = now }
            databaseFault = failure
            workAskedFor = []
            due = []
            // A drain that never worked ends with this failure as its one line.
            if hadDatabase || !settings.drains {
                log(.warning, "no database", ["why": failure.what, "remedy": failure.remedy])
            }
        case .work(let found, let due, let next):
            worked(.work)
            learnWork(apps: found, due: due, nextInMilliseconds: next, now: now)
        case .claimed(let claim, let answer, let askedAt):
            worked(.claim)
            take(answer, of: claim, askedAt: askedAt, now: now)
        case .unfinished(let isUnfinished):
            worked(.unfinished)
            if !isUnfinished && mayDrainNow { finish(.ok, failure: nil) }
        case .recorded(let matched):
            worked(.record)
            results.recorded(matched: matched)
        case .verified(let matched):
            worked(.verify)
            let (refused, maybeSent) = results.verified(matched: matched)
            if refused > 0 {
                refusedResults += refused
                countDuplicateRisk(maybeSent)
                log(
                    .warning, "results refused: the lease was gone",
                    ["messages": "\(refused)", "sent": "\(maybeSent)"])
            }
        case .rescued(let count):
            worked(.rescue)
            if count > 0 {
                nextWorkAt = now
                log(.info, "rescued messages whose lease ran out", ["messages": "\(count)"])
            }
            if count == Rescue.limit { nextRescueAt = now }
        case .heartbeatDone:
            worked(.heartbeat)
        case .statementFailed(let kind, let failure):
            statementFailed(kind, failure, now: now)
        case .tokenReady(let credential, let lifetime):
            guard tokens.indices.contains(credential) else { return }
            tokens[credential].isReady(lifetime: lifetime, now: now)
            for index in apps.indices where apps[index].credential == credential {
                if apps[index].isWaitingForToken { apps[index].breaker.close() }
                apps[index].isWaitingForToken = false
            }
        case .tokenFailed(let credential, let failure):
            tokenFailed(credential, failure, now: now)
        case .credentialReplaced(let credential):
            guard tokens.indices.contains(credential) else { return }
            tokens[credential].replaced(now: now)
            for index in apps.indices where apps[index].credential == credential && apps[index].breaker.fault != nil {
                apps[index].isWaitingForToken = true
            }
        case .capacity(let streams):
            capacity = min(max(0, streams), settings.slots)
        case .woken(let name):
            nextWorkAt = min(nextWorkAt, now)
            for app in apps where name == nil || app.name == name {
                if let info = app.info { urgentApps.insert(info.id) }
            }
        case .listening(let isListening):
            self.isListening = isListening
        case .urgent(let found):
            worked(.urgent)
            let known = Set(due)
            due =
                found.filter { found in
                    !known.contains(found) && apps.contains { $0.info?.id == found.app && $0.info?.isPaused == false }
                } + due
        case .houseKept(let expired):
            worked(.housekeeping)
            if expired > 0 { log(.info, "expired messages that nobody could claim", ["messages": "\(expired)"]) }
            if expired >= Housekeeping.limit { nextHousekeepingAt = now }
        case .transferFinished(let slot, let outcome):
            transferFinished(slot: slot, outcome, now: now)
        case .stopRequested:
            stopRequested(now: now)
        }
    }

    /// What to do now.
    ///
    /// Everything the machine wants stands in it; asked again at once, it wants nothing more.
    package mutating func advance(now: Int64) -> [SenderAction] {
        if !isFinished {
            checkStartAndStop(now: now)
            refreshTokens(now: now)
            if isDatabaseReady {
                keepHouse(now: now)
                askForWork(now: now)
                claim(now: now)
            }
            post(now: now)
            record(now: now)
            if isDatabaseReady { askWhetherDrained(now: now) }
        }
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    mutating func log(_ level: Log.Level, _ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        actions.append(.log(LogEntry(level: level, message: message, fields: fields)))
    }

    mutating func finish(_ exit: ExitCode, failure: Failure?) {
        guard !isFinished else { return }
        isFinished = true
        actions.append(.finish(exit, failure: failure))
    }

    mutating func countDuplicateRisk(_ count: Int) { duplicateRisk += count }

    private mutating func worked(_ kind: StatementKind) {
        workAskedFor.remove(kind)
        failingSince[kind] = nil
    }

    private mutating func statementFailed(_ kind: StatementKind, _ failure: Failure, now: Int64) {
        workAskedFor.remove(kind)
        log(.error, "statement failed", ["statement": "\(kind)", "why": failure.what])
        let since = failingSince[kind] ?? now
        failingSince[kind] = since
        switch kind {
        case .record, .verify:
            results.sendAgain()
            results.holdUntil = now + settings.pollInterval
        case .claim, .work, .unfinished:
            due = []
            // What is due is not known any more: a drain has to ask again before it may end.
            claimedSinceWork = true
            nextWorkAt = now + settings.pollInterval
        case .rescue, .heartbeat, .housekeeping, .urgent:
            break
        }
        guard settings.drains, ![.heartbeat, .housekeeping, .urgent].contains(kind) else { return }
        if !knowsWork {
            finish(failure.exit, failure: failure)
        } else if now - since >= settings.startupTimeout {
            stop(because: failure, now: now)
        }
    }
}
