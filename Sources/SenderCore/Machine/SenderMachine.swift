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
    /// When the last question for work left.
    var workAskedAt: Int64 = .min / 2
    /// When the first of what went back is due again.
    var nextReturnAt = Int64.max
    /// Somebody queued messages since that question left.
    var isWorkExpected = false
    var floors = ClaimFloors()
    /// Rows asked for by the claims under way.
    var underWay: [StatementKind: Int] = [:]
    var claimedSinceWork = false
    var knowsWork = false
    /// Whether wake-ups come, so that polling is only a fallback.
    var isListening = false
    /// Apps that were woken for and not yet asked about.
    var urgentApps: Set<Int> = []
    var rightOfWay = RightOfWay()
    var nextHousekeepingAt: Int64
    var nextThoroughHousekeepingAt: Int64

    /// Since when a kind of statement has failed without having worked in between.
    var failingSince: [StatementKind: Int64] = [:]

    /// One for each of the sender's credentials.
    var tokens: [TokenState]
    var hadSuccess = false
    /// Second issues by libcurl and resends after an unknown outcome: each may be a duplicate on a device.
    package internal(set) var duplicateRisk = 0
    /// Results that found their lease gone and were not recorded.
    package internal(set) var refusedResults = 0

    var sentSinceVitals = 0
    var vitalsTakenAt: Int64
    /// Longer than any sender waits before it tries the database again.
    static let rescueGrace: Int64 = 6_000_000_000

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
        // Not at once: a short drain has other things to do.
        nextThoroughHousekeepingAt = now + Housekeeping.interval
        nextHeartbeatAt = now + Int64(Work.heartbeatSeconds) * 1_000_000_000
    }

    /// Messages this sender holds: ready to post or on a stream.
    package var held: Int { slots.inFlight + apps.reduce(0) { $0 + $1.ready.count } }
    package var inFlight: Int { slots.inFlight }
    var isStopping: Bool { stopDeadline != nil }

    /// What to do now.
    ///
    /// Everything the machine wants stands in it; asked again at once, it wants nothing more.
    package mutating func advance(now: Int64) -> [SenderAction] {
        if !isFinished {
            checkStartAndStop(now: now)
            refreshTokens(now: now)
            // What is done away with here makes room for the claims.
            releaseWhatWaitedTooLong(now: now)
            if isDatabaseReady { claimUrgent(now: now) }
            post(now: now)
            if isDatabaseReady {
                keepHouse(now: now)
                // Posting may have made room.
                claimUrgent(now: now)
                claimUsual(now: now)
                askForWork(now: now)
            }
            record(now: now)
            if isDatabaseReady { askWhetherDrained(now: now) }
        }
        defer { actions = [] }
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
}
