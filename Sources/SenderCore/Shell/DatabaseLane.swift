import Operations
import Postgres
import Queue
import Reactor

/// One database connection with statements in line: one in flight, the others wait in order.
///
/// A server that does not answer in time counts as lost: only so does a sender get away from a machine that died without
/// a word, or from a lock that somebody holds for good.
final class DatabaseLane: PollSource {
    /// A statement and what to do with its result.
    struct Statement {
        let kind: StatementKind
        let sql: String
        var parameters: [Value] = []
        var format = ResultFormat.text
        let completion: (QueryResult) -> Void
    }

    /// Nanoseconds until a connect is given up.
    static let connectTimeout: Int64 = 15_000_000_000

    private let reactor: Reactor
    private let statementTimeout: Int64
    private var connection: AsyncConnection
    private var watched: Int32 = -1
    private var watchedInterest: Interest = []
    private var waiting: [Statement] = []
    private var current: Statement?
    private var currentSince: Int64 = 0
    private let connectingSince = Reactor.now
    private(set) var isConnected = false
    private(set) var isClosed = false
    /// The statement in flight was given up: the server process may still be busy with it.
    private(set) var abandonedProcessID: Int?

    /// Told when statements may be sent.
    var connected: () -> Void = {}
    /// Told of a statement that failed on a connection that goes on.
    var failed: (StatementKind, PostgresError) -> Void = { _, _ in }
    /// Told once, when the connection is gone, with the kinds of the statements that had no answer; nothing comes after it.
    var lost: (Failure, [StatementKind]) -> Void = { _, _ in }
    var notified: (Notification) -> Void = { _ in }

    /// Starts to connect.
    ///
    /// - Parameter statementTimeout: nanoseconds after which a statement without an answer means that the server is lost.
    init(_ conninfo: Conninfo, reactor: Reactor, statementTimeout: Int64) throws(PostgresError) {
        self.reactor = reactor
        self.statementTimeout = statementTimeout
        connection = try AsyncConnection(conninfo)
    }

    /// Watches the socket; called once the callbacks are set.
    func start() { if !isClosed { watch() } }

    /// As the server told this connection; behind a pooler some other number.
    var backendProcessID: Int { connection.backendProcessID }

    /// - Parameter isFirst: goes before everything else that waits.
    func send(_ statement: Statement, isFirst: Bool = false) {
        waiting.insert(statement, at: isFirst ? 0 : waiting.count)
        sendNext()
    }

    /// When the server will have been silent for too long.
    var deadline: Int64? {
        if isClosed { return nil }
        if !isConnected { return connectingSince + Self.connectTimeout }
        return current == nil ? nil : currentSince + statementTimeout
    }

    /// Gives up on a server that is silent for too long.
    func turn(now: Int64) {
        guard let deadline, now >= deadline else { return }
        if let current {
            abandonedProcessID = connection.backendProcessID
            lose(
                Failure(
                    .unavailable,
                    "the queue's database did not answer the statement for \(current.kind) within \(statementTimeout / 1_000_000_000) s",
                    remedy: "look for locks and load there, or raise --statement-timeout"))
        } else {
            lose(
                Failure(
                    .unavailable,
                    "connecting to the queue's database took longer than \(Self.connectTimeout / 1_000_000_000) s",
                    remedy: "check the network"))
        }
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
                // A server that turned into a standby answers, and is lost all the same.
                if error.isConnectionLost { lose(error) } else { fail(error) }
            case .lost(let error):
                lose(error)
            case .notification(let notification):
                notified(notification)
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

    func lose(_ failure: Failure) {
        let unanswered = ([current].compactMap(\.self) + waiting).map(\.kind)
        close()
        lost(failure, unanswered)
    }

    private func lose(_ error: PostgresError) {
        lose(
            Failure(
                error, while: isConnected ? "talking to the queue's database" : "connecting to the queue's database"))
    }

    private func fail(_ error: PostgresError) {
        guard let statement = current else { return }
        current = nil
        // Those of its kind behind it belong to the same group, which the machine sends again as a whole.
        waiting.removeAll { $0.kind == statement.kind }
        failed(statement.kind, error)
    }

    private func sendNext() {
        guard isConnected, !isClosed, current == nil, !waiting.isEmpty, connection.isReady else { return }
        let statement = waiting.removeFirst()
        current = statement
        currentSince = Reactor.now
        do {
            try connection.send(statement.sql, statement.parameters, format: statement.format)
        } catch {
            if error.isConnectionLost { lose(error) } else { fail(error) }
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
