import Queue

@testable import SenderCore

/// One sender process: the machine, and what its shell remembers.
final class SimulatedSender {
    /// The database connections' lines, and the statement each waits for.
    enum Lane: Int, CaseIterable {
        case work, results, urgent
    }

    let number: Int
    var machine: SenderMachine
    let startedAt: Int64

    // The process.
    var isAlive = true
    var exit: ExitKind?
    var pausedUntil: Int64 = 0
    var slowUntil: Int64 = 0
    var inbox: [SenderEvent] = []
    var isTurnPlanned = false
    var wakeUp = 0
    var hasBeenToldToStop = false

    // The database as its shell sees it.
    /// Grows whenever the connections are lost: what belongs to earlier ones is not for this sender any more.
    var connection = 0
    var isReady = false
    var isListening = false
    var failedConnects = 0
    /// Its row in `todoke.senders`, kept over reconnects.
    var row: Int?
    var waiting: [[SimulatedStatement]] = [[], [], []]
    var current: [SimulatedStatement?] = [nil, nil, nil]

    // The provider as its shell sees it.
    var tokens: [AccessToken?]
    var posts: [Int: Post] = [:]
    var capacity: Int

    // What the checks remember.
    /// When something was wrong last that can keep a result from being recorded in time.
    var lastTrouble: Int64 = 0
    var turnsNow = (time: Int64(-1), count: 0)
    var idleTurns = (second: Int64(-1), count: 0)
    var capacityTold: Int
    /// Refused results that it was told of.
    var refusedTold = 0
    /// Messages that it was given and whose results the database has not settled.
    var owed = 0
    /// Until when each token is good, as it was told.
    var tokensTold: [Int64]
    /// By app, until when the provider asked it to wait.
    var holds: [Int: Int64] = [:]
    var pausedApps: Set<Int> = []
    /// By slot, the last post that it was told of.
    var lastPosts: [Int: Post] = [:]
    var hadSuccess = false
    /// Records and verifications that were answered, and the machine has not heard so.
    private var answered: [Record] = []

    enum ExitKind { case ok, gaveUp, killed }

    init(number: Int, machine: SenderMachine, settings: MachineSettings, now: Int64) {
        self.number = number
        self.machine = machine
        startedAt = now
        capacity = settings.slots
        capacityTold = settings.slots
        tokens = Array(repeating: nil, count: 1 + (settings.apps.map(\.credential).max() ?? 0))
        tokensTold = Array(repeating: 0, count: tokens.count)
    }

    func wasAnswered(_ statement: SimulatedStatement) {
        switch statement.work {
        case .record(let record, _), .verify(let record): answered.append(record)
        default: break
        }
    }

    func takeAnswered() -> Record? { answered.isEmpty ? nil : answered.removeFirst() }

    /// Whether it is cut off or still at this moment.
    func isInTrouble(now: Int64) -> Bool { !isReady || pausedUntil > now || slowUntil > now }
}

/// A statement in a lane.
struct SimulatedStatement {
    enum Work {
        case work, urgent(apps: [Int]), claim(Claim), unfinished(apps: [Int])
        case record(Record, duplicateRisk: Int), verify(Record)
        case rescue(apps: [Int]), heartbeat(SenderVitals), keepHouse(apps: [Int])
    }

    let work: Work
    let askedAt: Int64

    var kind: StatementKind {
        switch work {
        case .work: .work
        case .urgent: .urgent
        // Urgent claims go with the questions for urgent work, and fail like them.
        case .claim(let claim): claim.isUrgent ? .urgent : .claim
        case .unfinished: .unfinished
        case .record: .record
        case .verify: .verify
        case .rescue: .rescue
        case .heartbeat: .heartbeat
        case .keepHouse: .housekeeping
        }
    }
}
