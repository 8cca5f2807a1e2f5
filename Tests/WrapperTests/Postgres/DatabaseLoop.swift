import Glibc
import Postgres
import Reactor
import Testing

/// The smallest loop around one asynchronous connection.
final class DatabaseLoop: PollSource {
    let connection: AsyncConnection
    private let reactor: Reactor
    private var watched: Int32 = -1
    private var events: [AsyncConnection.Event] = []
    /// No test waits longer than this for the server.
    private let deadline = Reactor.now + 60_000_000_000

    init(_ conninfo: Conninfo) throws {
        reactor = try Reactor()
        connection = try AsyncConnection(conninfo)
    }

    func ready(_ readiness: Interest) {
        events += connection.advance(readable: readiness.contains(.read), writable: readiness.contains(.write))
    }

    func turn(milliseconds: Int64) throws {
        let descriptor = connection.descriptor
        if watched != descriptor, watched >= 0 { reactor.unwatch(watched) }
        watched = descriptor
        if descriptor >= 0 {
            try reactor.watch(descriptor, Interest(rawValue: connection.interest.rawValue), self)
        }
        defer {
            // The reactor keeps its sources alive.
            if descriptor >= 0 { reactor.unwatch(descriptor) }
        }
        try reactor.wait(atMostNanoseconds: milliseconds * 1_000_000)
    }

    func nextEvent() throws -> AsyncConnection.Event {
        while events.isEmpty {
            try #require(Reactor.now < deadline, "nothing came from the server")
            try #require(!connection.isLost, "nothing comes from a connection that is lost")
            try turn(milliseconds: 1_000)
        }
        return events.removeFirst()
    }

    func untilConnected() throws {
        guard case .connected = try nextEvent() else { throw Unexpected() }
    }

    func untilResult() throws -> QueryResult {
        guard case .result(let result) = try nextEvent() else { throw Unexpected() }
        return result
    }

    func untilLost() throws -> PostgresError {
        guard case .lost(let error) = try nextEvent() else { throw Unexpected() }
        #expect(events.isEmpty)
        return error
    }

    func result(_ sql: String, _ parameters: [Value] = []) throws -> QueryResult {
        try connection.send(sql, parameters)
        return try untilResult()
    }

    /// Plays the server: waits for something from libpq, and answers.
    func send(_ peer: LoopbackPeer, _ bytes: [UInt8], afterReceiving: Bool) throws {
        while afterReceiving, !peer.hasReceived() {
            try #require(Reactor.now < deadline, "libpq sent nothing")
            try turn(milliseconds: 10)
        }
        peer.send(bytes)
    }

    struct Unexpected: Error {}
}
