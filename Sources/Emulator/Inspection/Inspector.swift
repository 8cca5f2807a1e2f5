import Delivery

/// Keeps count of what clients do; no clock and no I/O: whoever tells it something tells the time too.
final class Inspector {
    /// Connections that have ended and are still listed.
    static let mostEnded = 100

    /// How many targets are remembered at least; 0 is none.
    private let trackedTargets: Int
    private(set) var start: Int64
    private(set) var accepted = 0
    private(set) var validated = 0
    private(set) var refused = 0
    private(set) var faulted = 0
    private(set) var tokens = 0
    private(set) var tokenRefusals = 0
    private(set) var others = 0
    private(set) var http1Requests = 0
    private(set) var http2Requests = 0
    /// By FCM's code or else the RPC status.
    private(set) var errors: [String: Int] = [:]
    /// By the fault's name.
    private(set) var faults: [String: Int] = [:]
    private(set) var rate: RateMeter
    private(set) var targets: SeenTable
    private(set) var arrivals: SeenTable
    /// Messages accepted once more than once.
    private(set) var secondArrivals = 0
    private(set) var guidance = Guidance()
    private(set) var messages = MessageRing()

    private(set) var connections: [Int: ConnectionEntry] = [:]
    private(set) var endedConnections: [ConnectionEntry] = []
    private(set) var connectionsTotal = 0
    private(set) var connectionsPeak = 0
    private(set) var concurrency = 0
    private(set) var concurrencyPeak = 0
    private(set) var streamsPeak = 0
    private var latest: ConnectionEntry?
    /// Grows with whatever is told, so that waiters are looked at only then.
    private(set) var generation = 0

    /// - Parameters:
    ///   - now: nanoseconds of the monotonic clock.
    ///   - trackedTargets: how many targets are remembered at least, to find those that come twice.
    init(now: Int64, trackedTargets: Int) {
        start = now
        rate = RateMeter(start: now)
        self.trackedTargets = trackedTargets
        targets = SeenTable(capacity: trackedTargets)
        arrivals = SeenTable(capacity: trackedTargets)
    }

    var isTrackingTargets: Bool { trackedTargets > 0 }

    // MARK: Requests

    /// Takes in a request at the moment when it is decided.
    ///
    /// - Parameters:
    ///   - target: where its message goes, when it had one.
    ///   - message: the message's bytes, likewise.
    func record(_ record: RequestRecord, target: MessageTarget? = nil, message: Span<UInt8>? = nil) {
        generation &+= 1
        if record.isHTTP2 { http2Requests += 1 } else { http1Requests += 1 }
        let connection = entry(record.connectionID)
        connection?.requests += 1
        switch record.endpoint {
        case .other: others += 1
        case .token:
            if record.outcome == .accepted { tokens += 1 } else { tokenRefusals += 1 }
            if record.outcome == .faulted { faults[record.code, default: 0] += 1 }
        case .send:
            connection?.messages += 1
            recordSend(record, target, message)
        }
    }

    private func countFault(_ record: RequestRecord) {
        faults[record.code, default: 0] += 1
        // A client cannot tell an error that a scenario made up from another, also when the message was accepted first.
        if record.status >= 400 { errors[record.code, default: 0] += 1 }
    }

    private func recordSend(_ record: RequestRecord, _ target: MessageTarget?, _ message: Span<UInt8>?) {
        rate.count(at: record.time)
        switch record.outcome {
        case .accepted:
            accepted += 1
            if !record.code.isEmpty { countFault(record) }
        case .validated: validated += 1
        case .refused:
            refused += 1
            errors[record.code, default: 0] += 1
        case .faulted:
            faulted += 1
            countFault(record)
        }
        let print = target.map { Fingerprint($0) }
        let redacted: RedactedTarget? = if let target, let print { RedactedTarget(target, print) } else { nil }
        messages.append(.init(record: record, target: redacted))
        let counts = trackedTargets > 0 && record.outcome == .accepted
        var whole: Fingerprint?
        if let print, let message, counts || guidance.knowsRefusals || record.status >= 400 {
            whole = Fingerprint(message: message, to: print)
        }
        if counts, let print {
            targets.insert(print)
            if let whole, arrivals.insert(whole) { secondArrivals += 1 }
        }
        guidance.judge(record, message: whole, target: redacted)
    }

    private func entry(_ id: Int) -> ConnectionEntry? {
        if let latest, latest.id == id { return latest }
        latest = connections[id]
        return latest
    }

    // MARK: Connections

    func opened(connection id: Int, at time: Int64) {
        generation &+= 1
        connections[id] = ConnectionEntry(id: id, opened: time)
        connectionsTotal += 1
        connectionsPeak = max(connectionsPeak, connections.count)
    }

    /// How many requests it has open now.
    func observed(connection id: Int, isHTTP2: Bool, streams: Int) {
        guard let entry = entry(id), entry.streams != streams || entry.isHTTP2 == nil else { return }
        generation &+= 1
        entry.isHTTP2 = isHTTP2
        concurrency += streams - entry.streams
        entry.streams = streams
        entry.peakStreams = max(entry.peakStreams, streams)
        streamsPeak = max(streamsPeak, streams)
        concurrencyPeak = max(concurrencyPeak, concurrency)
    }

    func ended(connection id: Int, at time: Int64) {
        guard let entry = connections.removeValue(forKey: id) else { return }
        generation &+= 1
        if latest === entry { latest = nil }
        concurrency -= entry.streams
        entry.streams = 0
        entry.ended = time
        if endedConnections.count == Self.mostEnded { endedConnections.removeFirst() }
        endedConnections.append(entry)
        guidance.judge(ended: entry, at: time)
    }

    var streamsNow: Int { connections.values.reduce(0) { max($0, $1.streams) } }

    // MARK: Starting again

    /// Forgets what was counted, but for the connections that are open.
    func resetCounts(at time: Int64) {
        generation &+= 1
        start = time
        accepted = 0
        validated = 0
        refused = 0
        faulted = 0
        tokens = 0
        tokenRefusals = 0
        others = 0
        http1Requests = 0
        http2Requests = 0
        errors = [:]
        faults = [:]
        rate = RateMeter(start: time)
        secondArrivals = 0
        guidance = Guidance()
        messages = MessageRing()
        targets = SeenTable(capacity: trackedTargets)
        arrivals = SeenTable(capacity: trackedTargets)
        endedConnections = []
        connectionsTotal = connections.count
        connectionsPeak = connections.count
        concurrencyPeak = concurrency
        streamsPeak = streamsNow
    }

    func lastSecond(at time: Int64) -> Int { rate.lastSecond(at: time) }
    func lastMinute(at time: Int64) -> Int { rate.lastMinute(at: time) }
}
