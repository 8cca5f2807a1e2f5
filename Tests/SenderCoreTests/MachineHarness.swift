import Delivery
import Operations
import Queue

@testable import SenderCore

/// Plays the shell for one machine: answers what it asks from scripted messages, with a clock that only tests move.
struct MachineHarness {
    static let second: Int64 = 1_000_000_000
    static let day = Day("2026-11-30") ?? unreachableDay

    var machine: SenderMachine
    var now: Int64 = 1_000 * second
    /// Everything the machine asked for since the last look.
    var actions: [SenderAction] = []

    init(apps: [String] = ["recipes"], _ change: (inout MachineSettings) -> Void = { _ in }) {
        var settings = MachineSettings(apps: apps)
        settings.slots = 4
        settings.prefetch = 16
        settings.drains = true
        settings.retry = RetryPolicy(base: 10)
        settings.ramp = 0
        change(&settings)
        machine = SenderMachine(settings: settings, seed: 1, now: now)
    }

    mutating func hear(_ events: SenderEvent...) {
        for event in events { machine.receive(event, now: now) }
        actions += machine.advance(now: now)
    }

    mutating func pass(_ seconds: Double) {
        now += Int64(seconds * Double(Self.second))
        actions += machine.advance(now: now)
    }

    /// Takes what was asked so far.
    mutating func take() -> [SenderAction] {
        defer { actions = [] }
        return actions
    }

    /// A database and an access token, and work at these priorities of the first app.
    mutating func start(priorities: [Int], perSecond: Int = 1_000, liveSenders: Int = 1) {
        hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * Self.second))
        hear(Self.work(due: priorities.map(Self.place), perSecond: perSecond, liveSenders: liveSenders))
    }

    static func place(_ priority: Int) -> Work.Due { Work.Due(app: 1, priority: priority, day: day) }

    /// Answers a claim with so many messages, the first with this id.
    mutating func answer(_ claim: Claim, _ count: Int, from first: Int = 1, isAtMostOnce: Bool = false) {
        let messages = (0..<count).map {
            ClaimedMessage(
                key: MessageKey(id: first + $0, day: Self.day, claimNumber: 1), app: claim.app, attempts: 0,
                expiresInMilliseconds: nil, isAtMostOnce: isAtMostOnce, ttlDigits: nil, payload: [])
        }
        hear(.claimed(claim, Claim.Answer(messages: messages, taken: count), askedAt: now))
    }

    mutating func finish(_ slot: Int, _ kind: VerdictClass, status: Int, code: String = "", retryAfter: Int? = nil) {
        hear(.transferFinished(slot: slot, Self.answered(kind, status: status, code: code, retryAfter: retryAfter)))
    }

    /// Says that everything that was to be recorded is.
    mutating func recordAll() -> [SenderAction] {
        var all: [SenderAction] = []
        while true {
            // Results wait a little for others that may join them.
            pass(0.03)
            let taken = take()
            all += taken
            if taken.records.isEmpty { return all }
            for record in taken.records { hear(.recorded(matched: record.results.count)) }
        }
    }

    /// Up to the point where `count` messages are claimed and posted as far as streams allow.
    mutating func start(messages count: Int, isAtMostOnce: Bool = false, expiresIn: Int? = nil, attempts: Int = 0) {
        hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * Self.second))
        hear(Self.work(due: [Work.Due(app: 1, priority: 5, day: Self.day)]))
        for action in take() {
            guard case .claim(let claim) = action else { continue }
            let messages = (1...count).map {
                ClaimedMessage(
                    key: MessageKey(id: $0, day: Self.day, claimNumber: 1), app: 1, attempts: attempts,
                    expiresInMilliseconds: expiresIn, isAtMostOnce: isAtMostOnce, ttlDigits: nil, payload: [])
            }
            hear(.claimed(claim, Claim.Answer(messages: messages, taken: count), askedAt: now))
        }
    }

    static func work(
        _ apps: [String] = ["recipes"], isPaused: Bool = false, due: [Work.Due] = [], next: Int? = nil,
        perSecond: Int = 1_000, liveSenders: Int = 1
    ) -> SenderEvent {
        .work(
            apps: apps.enumerated().map {
                Work.App(
                    id: $0.offset + 1, name: $0.element, projectID: "demo", isPaused: isPaused,
                    messagesPerSecond: perSecond, liveSenders: liveSenders)
            }, due: due, nextInMilliseconds: next)
    }

    static func answered(
        _ kind: VerdictClass, status: Int, code: String = "", retryAfter: Int? = nil, issues: Int = 1
    ) -> TransferOutcome {
        var verdict = Verdict(kind, code: code, hint: "hint", retryAfterSeconds: retryAfter)
        verdict.asksForNewCredentials = status == 401
        return TransferOutcome(.answered(verdict, httpStatus: status), issues: issues)
    }
}

/// Never used: the literal above is a day.
private let unreachableDay: Day = Day("1970-01-01").unsafelyUnwrapped

extension [SenderAction] {
    var posts: [PostOrder] { compactMap { if case .post(let order) = $0 { order } else { nil } } }
    var records: [Record] { compactMap { if case .record(let record) = $0 { record } else { nil } } }
    var results: [MessageResult] { records.flatMap(\.results) }
    var claims: [Claim] { compactMap { if case .claim(let claim) = $0 { claim } else { nil } } }
    var workQuestions: Int { count { if case .askWork = $0 { true } else { false } } }
    var urgentQuestions: Int { count { if case .askUrgent = $0 { true } else { false } } }
    var logLines: [LogEntry] { compactMap { if case .log(let entry) = $0 { entry } else { nil } } }
    var verifications: Int { count { if case .verify = $0 { true } else { false } } }
    var tokenRequests: Int { count { if case .refreshToken = $0 { true } else { false } } }
    var end: (exit: ExitCode, failure: Failure?)? {
        for case .finish(let exit, let failure) in self { return (exit, failure) }
        return nil
    }
}
