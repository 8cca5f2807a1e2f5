import Operations
import Postgres
import Queue
import Reactor

/// One database connection with statements in line: one in flight, the others wait in order.
final class DatabaseLane: PollSource {
    /// A statement and what to do with its result.
    struct Statement {
        let kind: StatementKind
        let sql: String
        let parameters: [Value]
        let completion: (QueryResult) -> Void
    }

    private let reactor: Reactor
    private var connection: AsyncConnection
    private var watched: Int32 = -1
    private var watchedInterest: Interest = []
    private var waiting: [Statement] = []
    private var current: Statement?
    private(set) var isConnected = false
    private(set) var isClosed = false

    /// Told when statements may be sent.
    var connected: () -> Void = {}
    /// Told of a statement that failed on a connection that goes on.
    var failed: (StatementKind, PostgresError) -> Void = { _, _ in }
    /// Told once, when the connection is gone; nothing comes after it.
    var lost: (Failure) -> Void = { _ in }

    /// Starts to connect.
    init(_ conninfo: Conninfo, reactor: Reactor) throws(PostgresError) {
        self.reactor = reactor
        connection = try AsyncConnection(conninfo)
    }

    /// Watches the socket; called once the callbacks are set.
    func start() { if !isClosed { watch() } }

    func send(
        _ kind: StatementKind, _ sql: String, _ parameters: [Value] = [], completion: @escaping (QueryResult) -> Void
    ) {
        waiting.append(Statement(kind: kind, sql: sql, parameters: parameters, completion: completion))
        sendNext()
    }

    func ready(_ readiness: Interest) {
        guard !isClosed else { return }
        let events = connection.advance(readable: readiness.contains(.read), writable: readiness.contains(.write))
        for event in events where !isClosed {
            switch event {
            case .connected:
                isConnected = true
                connected()
            case .result(let result):
                let statement = current
                current = nil
                statement?.completion(result)
            case .failed(let error):
                let statement = current
                current = nil
                if let statement {
                    // Those of its kind behind it belong to the same group, which the machine sends again as a whole.
                    waiting.removeAll { $0.kind == statement.kind }
                    failed(statement.kind, error)
                }
            case .lost(let error):
                lose(error)
            case .notification:
                break
            }
        }
        guard !isClosed else { return }
        sendNext()
        watch()
    }

    /// Closes the connection without a word.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if watched >= 0 { reactor.unwatch(watched) }
        watched = -1
        waiting = []
        current = nil
    }

    private func lose(_ error: PostgresError) {
        lose(
            Failure(
                error, while: isConnected ? "talking to the queue's database" : "connecting to the queue's database"))
    }

    private func lose(_ failure: Failure) {
        close()
        lost(failure)
    }

    private func sendNext() {
        guard isConnected, !isClosed, current == nil, !waiting.isEmpty, connection.isReady else { return }
        let statement = waiting.removeFirst()
        current = statement
        do {
            try connection.send(statement.sql, statement.parameters)
        } catch {
            if error.isConnectionLost {
                lose(error)
            } else {
                current = nil
                waiting.removeAll { $0.kind == statement.kind }
                failed(statement.kind, error)
            }
            return
        }
        watch()
    }

    private func watch() {
        let descriptor = connection.descriptor
        if watched >= 0 && descriptor != watched { reactor.unwatch(watched) }
        var interest: Interest = []
        if connection.interest.wantsRead { interest.insert(.read) }
        if connection.interest.wantsWrite { interest.insert(.write) }
        // While connecting, libpq may put another socket under the same number, which the kernel has to be told.
        if isConnected && descriptor == watched && interest == watchedInterest { return }
        watched = descriptor
        watchedInterest = interest
        guard descriptor >= 0 else { return }
        do {
            try reactor.watch(descriptor, interest, self)
        } catch {
            lose(
                Failure(
                    .unavailable, "the database's socket cannot be watched (\(error))",
                    remedy: "raise the limit of open files"))
        }
    }
}
