import Curl
import Reactor

/// The connections to the provider: which one carries the next request, and when one follows another.
///
/// Requests go to the first connection with room, so that few connections are busy rather than all of them a little: that
/// costs fewer packets, and the others are opened only when they are needed.
final class ConnectionPool {
    private let reactor: Reactor
    private let limits: ConnectionLimits
    /// Those that get requests.
    private var active: [ProviderConnection] = []
    /// Those that only wait for answers.
    private var draining: [ProviderConnection] = []
    /// Grows when a connection that seemed dead answers after all.
    private var silence: Int64
    private var random = SystemRandomNumberGenerator()
    /// Connections begun so far, whatever became of them.
    private(set) var opened = 0
    /// Told of every transfer that ended, and on which connection.
    var finished: (ProviderConnection, Transfer, CurlCode) -> Void = { _, _, _ in }

    init(reactor: Reactor, limits: ConnectionLimits) {
        self.reactor = reactor
        self.limits = limits
        silence = limits.silence
    }

    /// How many requests may be in flight: what the connections can carry now, what each one not opened yet would carry at
    /// first, and what drains.
    var capacity: Int {
        var sum = max(0, limits.connections - active.count)
        for connection in active { sum += connection.capacity }
        for connection in draining { sum += connection.inFlight }
        return sum
    }

    /// Open connections, draining ones included.
    var count: Int { active.count + draining.count }

    /// The connection for the next request, opened if need be; nil when none has room.
    func connection(now: Int64) throws(CurlError) -> ProviderConnection? {
        var first: ProviderConnection?
        var old: ProviderConnection?
        for connection in active {
            // The sooner a successor is proven, the sooner it takes over.
            if connection.predecessor != nil && connection.hasRoom && connection.state == .new { return connection }
            if old == nil && connection.wantsReplacement(now: now) { old = connection }
            if connection.hasRoom && (first == nil || first?.state == .new && connection.state == .proven) {
                first = connection
            }
        }
        if let old, count <= limits.connections, !active.contains(where: { $0.predecessor != nil }) {
            let successor = try open(now: now)
            successor.predecessor = old
            return successor
        }
        if first == nil, active.count < limits.connections { return try open(now: now) }
        return first
    }

    private func open(now: Int64) throws(CurlError) -> ProviderConnection {
        let driver = try CurlDriver(reactor: reactor, streams: limits.streams, connectsOnce: true)
        let jitter = Double.random(in: 0.9...1.1, using: &random)
        let connection = ProviderConnection(driver: driver, limits: limits, jitter: jitter, now: now)
        driver.finished = { [unowned self, unowned connection] transfer, code in finished(connection, transfer, code) }
        driver.idleConnectionEnded = { [unowned self, unowned connection] in drain(connection) }
        active.append(connection)
        opened += 1
        return connection
    }

    /// An answer came over the connection.
    func answered(_ connection: ProviderConnection, overHTTP2: Bool, now: Int64) {
        if connection.isSuspect { silence = max(silence, min(now - connection.lastSign, 4 * limits.silence)) }
        connection.answered(overHTTP2: overHTTP2, now: now)
        guard connection.state == .proven, let predecessor = connection.predecessor else { return }
        connection.predecessor = nil
        drain(predecessor)
    }

    /// It could not be made, or ended before it was used; false when it was to take over from one that still works.
    func failed(_ connection: ProviderConnection, now: Int64) -> Bool {
        defer { drain(connection) }
        guard let predecessor = connection.predecessor, predecessor.state == .proven else { return true }
        predecessor.keepUntil = now + 60_000_000_000
        return false
    }

    /// The connection gets no more requests.
    ///
    /// - Parameter asSuspect: it was silent, so that those that were idle for long are not trusted any more either.
    func drain(_ connection: ProviderConnection, asSuspect: Bool = false) {
        if connection.state != .draining {
            connection.drain(asSuspect: asSuspect)
            move(connection)
        }
        guard asSuspect else { return }
        for other in active where other.isDoubted && other.inFlight == 0 {
            other.drain()
            move(other)
        }
    }

    /// The connection did not take another request, which never left.
    func refusedAnother(_ connection: ProviderConnection) {
        guard connection.state != .draining else { return }
        connection.refusedAnother(most: limits.streams)
        if connection.state == .draining { move(connection) }
    }

    private func move(_ connection: ProviderConnection) {
        active.removeAll { $0 === connection }
        draining.append(connection)
    }

    /// Starts what was added, looks for connections that are silent or were idle for long, and closes what has drained.
    func turn(now: Int64) {
        for connection in active {
            connection.driver.turn(now: now)
            if connection.inFlight == 0 {
                if now - connection.lastSign >= limits.idle { connection.doubt() }
            } else if isSilent(connection, now: now) {
                drain(connection, asSuspect: true)
            }
        }
        guard !draining.isEmpty else { return }
        for connection in draining {
            connection.driver.turn(now: now)
            if connection.inFlight == 0 { connection.driver.close() }
        }
        draining.removeAll { $0.inFlight == 0 }
    }

    var hasInFlight: Bool { active.contains { $0.inFlight > 0 } || draining.contains { $0.inFlight > 0 } }

    /// Ends the requests that it is true for, as if libcurl had found that their time is over.
    func giveUp(where isOver: (Transfer) -> Bool) {
        // Both lists change while requests end.
        for connection in active + draining where connection.inFlight > 0 {
            for transfer in connection.driver.multi.transfers where isOver(transfer) {
                connection.driver.cancel(transfer)
                finished(connection, transfer, .timedOut)
            }
        }
    }

    /// It owes an answer, and others can take its place: as many suspects as connections, so that a server that is slow
    /// altogether does not get ever more of them.
    private func isSilent(_ connection: ProviderConnection, now: Int64) -> Bool {
        connection.driver.multi.issued > 0 && now - connection.lastSign >= silence
            && draining.count < limits.connections
    }

    /// When ``turn(now:)`` has something to do by itself.
    var deadline: Int64? {
        var earliest: Int64?
        func consider(_ time: Int64) { earliest = min(earliest ?? time, time) }
        for connection in active {
            if let time = connection.driver.deadline { consider(time) }
            if connection.inFlight == 0 {
                if connection.state == .proven { consider(connection.lastSign + limits.idle) }
            } else if draining.count < limits.connections && connection.driver.multi.issued > 0 {
                consider(connection.lastSign + silence)
            }
        }
        for connection in draining {
            if connection.inFlight == 0 { consider(0) } else if let time = connection.driver.deadline { consider(time) }
        }
        return earliest
    }
}
