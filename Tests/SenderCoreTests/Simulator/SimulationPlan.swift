import Delivery
import Queue

@testable import SenderCore

/// What one seed decides before the run begins: sizes, times, and which faults there will be.
struct SimulationPlan {
    /// Kinds of trouble that come at moments of their own; each seed has some of them.
    enum Fault: CaseIterable {
        case kill, stop, pause, slowTurns, newcomer
        case outage, slowDatabase, connectionLoss, rowLocks, clockJump, listenerLoss
        case streamLoss, capacity, oldProtocol, tokenRevoked, tokenEndpoint, badCredentials, newKey
        case appPause, cancel
    }

    /// Kinds of trouble that a single post can meet.
    enum PostFault: CaseIterable {
        case refusedStream, connectFault, lostBefore, lostAfter, timeout, issuedAgain
        case quota, unavailable, internalError, html, waitAsked, refusesUs
    }

    let seed: UInt64
    let senders: Int
    let settings: MachineSettings
    let apps: [QueuedApp]
    let messages: Int
    /// Nanoseconds from the start until the world is well again.
    let trouble: Int64
    let faults: [Fault]
    let postFaults: [PostFault]
    /// How many of 1,000 posts and statements go wrong, and wake-ups get lost.
    let postsInTrouble: Int
    let statementsInTrouble: Int
    let lostWakeUps: Int
    /// Requests that the provider takes in a second for one app; `nil` for more than it is ever sent.
    let quota: Int?
    /// Nanoseconds that the provider takes at most, usually.
    let latency: Int64
    let tokenLifetime: Int64
    let listens: Bool
    let shareOfAtMostOnce: Int

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        func chance(_ percent: Int) -> Bool { draw(1...100) <= percent }

        self.seed = seed
        senders = draw(2...4)
        let credentials = draw(1...2)
        let rates = [5, 20, 50, 200]
        apps = (1...draw(1...3)).map { id in
            QueuedApp(
                id: id, name: "app\(id)", messagesPerSecond: rates[draw(0...3)], isAtMostOnce: chance(20))
        }
        var settings = MachineSettings(
            apps: apps.map { MachineSettings.App(name: $0.name, credential: $0.id % credentials) })
        settings.slots = draw(1...8)
        settings.prefetch = [0, 1, 5, 20][draw(0...3)]
        settings.leaseSeconds = draw(8...20)
        settings.requestTimeout = Int64(draw(1...3)) * VirtualClock.second
        settings.drains = chance(12)
        settings.stopTimeout = Int64(draw(1...5)) * VirtualClock.second
        settings.startupTimeout = Int64(draw(5...30)) * VirtualClock.second
        settings.pollInterval = Int64(draw(3...10)) * 100 * VirtualClock.millisecond
        settings.recordDelay = Int64(draw(1...50)) * VirtualClock.millisecond
        settings.recordBatch = draw(2...20)
        settings.maximumAttempts = draw(2...8)
        settings.ramp = Int64([0, 5, 60][draw(0...2)]) * VirtualClock.second
        if chance(20) { settings.maximumAge = Int64(draw(5...40)) * VirtualClock.second }
        settings.retry = RetryPolicy(base: draw(1...2), cap: draw(4...15))
        self.settings = settings
        messages = draw(10...60)
        trouble = Int64(draw(8...25)) * VirtualClock.second
        let calm = chance(15)
        faults = Fault.allCases.filter { _ in chance(30) && !calm }
        postFaults = PostFault.allCases.filter { _ in chance(50) }
        postsInTrouble = calm || postFaults.isEmpty ? 0 : [0, 30, 100, 300][draw(0...3)]
        statementsInTrouble = calm ? 0 : [0, 0, 10, 50][draw(0...3)]
        lostWakeUps = calm ? 0 : [0, 100, 500][draw(0...2)]
        quota = chance(25) ? draw(3...20) : nil
        latency = [5, 40, 200][draw(0...2)] * VirtualClock.millisecond
        tokenLifetime = Int64([10, 30, 3_600][draw(0...2)]) * VirtualClock.second
        listens = chance(70)
        shareOfAtMostOnce = [0, 20, 50][draw(0...2)]
    }
}
