import Delivery
import Operations
import Queue

/// Counts what passes between the machine and its shell; read by the metrics endpoint, the health checks, and the last
/// line of the log.
///
/// Plain values of one thread: a message costs an addition here and there. What is counted as sent, failed, retried or
/// returned is what the database has confirmed, so that the figures equal those of SQL.
struct SenderMetrics {
    private(set) var apps: [AppMetrics]
    /// The apps' ids in the database, -1 while unknown: apart, since they are walked for each message.
    private var ids: [Int]
    /// When each stream's post began, 0 while it is free, and for which app.
    private(set) var posts: [(began: Int64, app: Int)]
    private(set) var statements = StatementClock()
    private var ledger = ResultLedger()

    private(set) var claimLatency = Histogram.latency(milliseconds: Self.databaseBounds)
    private(set) var recordLatency = Histogram.latency(milliseconds: Self.databaseBounds)
    private(set) var claimRows = Histogram(.items, bounds: [0, 1, 5, 20, 50, 100, 200, 500, 1_000])
    private(set) var rescued = 0
    private(set) var expiredByHousekeeping = 0
    private(set) var wakeUps = 0
    private(set) var databaseConnects = 0
    private(set) var databaseLosses = 0
    private(set) var tokenRefreshes: [Int]
    private(set) var tokenFailures: [Int]
    /// Answers that were "sent", other answers, and posts without one; a message may have had several.
    private(set) var accepted = 0
    private(set) var refused = 0
    private(set) var unanswered = 0

    /// Since when the database has refused results without having taken any in between.
    private(set) var recordFailingSince: Int64?
    private(set) var lastPostAt: Int64
    private(set) var lastClaimAt: Int64

    static let databaseBounds: [Double] = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]

    init(settings: MachineSettings, now: Int64) {
        apps = settings.apps.map { AppMetrics(name: $0.name) }
        ids = Array(repeating: -1, count: apps.count)
        posts = Array(repeating: (0, 0), count: settings.slots)
        let credentials = (settings.apps.map(\.credential).max() ?? 0) + 1
        tokenRefreshes = Array(repeating: 0, count: credentials)
        tokenFailures = Array(repeating: 0, count: credentials)
        lastPostAt = now
        lastClaimAt = now
    }

    /// Takes note of what the machine is about to hear.
    mutating func receive(_ event: SenderEvent, now: Int64) {
        switch event {
        case .transferFinished(let slot, let outcome): finished(slot, outcome, now: now)
        case .claimed(let claim, let answer, let askedAt):
            statements.answered(claim.statementKind)
            claimLatency.observe(Int(now - askedAt))
            claimRows.observe(answer.taken)
            lastClaimAt = now
            guard let index = index(ofApp: claim.app) else { return }
            apps[index].claimed += answer.messages.count
            apps[index].expired += answer.expired
            apps[index].cancelled += answer.cancelled
        case .recorded(let matched):
            recordFailingSince = nil
            guard let (duration, results) = ledger.recorded(matched: matched, now: now) else { return }
            recordLatency.observe(Int(duration))
            for result in results { count(result) }
        case .verified(let matched):
            recordFailingSince = nil
            statements.answered(.verify)
            if let (results, refused) = ledger.verified(matched: matched) { count(results, without: refused) }
        case .work(let found, _, _):
            statements.answered(.work)
            learn(found)
        case .urgent: statements.answered(.urgent)
        case .unfinished: statements.answered(.unfinished)
        case .heartbeatDone: statements.answered(.heartbeat)
        case .rescued(let count):
            statements.answered(.rescue)
            rescued += count
        case .houseKept(let expired):
            statements.answered(.housekeeping)
            expiredByHousekeeping += expired
        case .statementFailed(let kind, _):
            statements.failed(kind)
            if kind == .record || kind == .verify {
                ledger.forget()
                recordFailingSince = recordFailingSince ?? now
            }
        case .databaseReady:
            databaseConnects += 1
            recordFailingSince = nil
        case .databaseLost:
            databaseLosses += 1
            statements.lost()
            ledger.forget()
            recordFailingSince = nil
        case .tokenReady(let credential, _):
            if tokenRefreshes.indices.contains(credential) { tokenRefreshes[credential] += 1 }
        case .tokenFailed(let credential, _):
            if tokenFailures.indices.contains(credential) { tokenFailures[credential] += 1 }
        case .woken: wakeUps += 1
        case .registeredAgain, .registryNote, .credentialReplaced, .capacity, .listening, .stopRequested: break
        }
    }

    /// Takes note of what the shell is about to do.
    mutating func perform(_ action: SenderAction, now: Int64) {
        switch action {
        case .post(let order): posted(slot: order.slot, app: order.message.app, now: now)
        case .claim(let claim): statements.asked(claim.statementKind, now: now)
        case .record(let record):
            statements.sent(.record)
            ledger.send(record, now: now)
        case .verify(let record):
            statements.asked(.verify, now: now)
            ledger.verify(record, now: now)
        case .askWork: statements.asked(.work, now: now)
        case .askUrgent: statements.asked(.urgent, now: now)
        case .askUnfinished: statements.asked(.unfinished, now: now)
        case .rescue: statements.asked(.rescue, now: now)
        case .keepHouse: statements.asked(.housekeeping, now: now)
        case .heartbeat: statements.asked(.heartbeat, now: now)
        case .refreshToken, .log, .finish: break
        }
    }

    /// Fields of the sender's last line in the log.
    func fields(lostResults: Int, duplicateRisk: Int) -> KeyValuePairs<String, String> {
        [
            "sent": "\(accepted)", "refused": "\(refused)", "unanswered": "\(unanswered)",
            "duplicate_risk": "\(duplicateRisk)", "lost_results": "\(lostResults)",
        ]
    }

    /// No post has ended yet.
    var isEmpty: Bool { accepted + refused + unanswered == 0 }

    /// The statement that has waited longest for its answer.
    var oldestStatement: (kind: StatementKind, askedAt: Int64)? {
        var oldest = statements.askedAt.min { $0.value < $1.value }.map { (kind: $0.key, askedAt: $0.value) }
        if let record = ledger.oldest, record < oldest?.askedAt ?? .max { oldest = (.record, record) }
        return oldest
    }

    private mutating func posted(slot: Int, app: Int, now: Int64) {
        guard posts.indices.contains(slot), let index = index(ofApp: app) else { return }
        posts[slot] = (now, index)
        apps[index].posted &+= 1
        lastPostAt = now
    }

    private mutating func finished(_ slot: Int, _ outcome: TransferOutcome, now: Int64) {
        guard posts.indices.contains(slot), posts[slot].began != 0 else { return }
        let post = posts[slot]
        posts[slot].began = 0
        apps[post.app].count(outcome.ending)
        if case .answered(let verdict, _) = outcome.ending {
            apps[post.app].latency.observe(Int(now - post.began))
            if verdict.kind == .sent { accepted &+= 1 } else { refused += 1 }
        } else {
            unanswered += 1
        }
    }

    /// Few apps: a walk is quicker than a table.
    private func index(ofApp id: Int) -> Int? { ids.firstIndex(of: id) }

    private mutating func learn(_ found: [Work.App]) {
        for app in found {
            guard let index = apps.firstIndex(where: { $0.name == app.name }) else { continue }
            ids[index] = app.id
            apps[index].oldestDueSeconds = app.oldestDueMilliseconds.map { Double(max(0, $0)) / 1_000 }
        }
    }

    private mutating func count(_ result: MessageResult) {
        guard let index = index(ofApp: result.key.app) else { return }
        apps[index].count(result)
    }

    /// Counts all but the last of them: those that were refused are alike in most cases, and counted apart.
    private mutating func count(_ results: [MessageResult], without refused: Int) {
        for result in results.dropLast(refused) { count(result) }
    }
}

extension Claim {
    /// Under which kind a failure of it is reported.
    var statementKind: StatementKind { isUrgent ? .urgent : .claim }
}
