import CLibPQ
import Glibc

/// A blocking connection, for tools, the producer and tests.
///
/// Closed when the last reference goes. Not `Sendable`.
///
/// A statement that fails throws and leaves the connection usable; `PostgresError.isConnectionLost` says when it is not.
package final class Connection {
    let handle: ConnectionHandle

    /// Connects, waiting at most `connect_timeout` for each host named.
    package init(_ conninfo: Conninfo) throws(PostgresError) {
        handle = try ConnectionHandle(starting: conninfo)
        try connect()
    }

    /// Runs one statement over the unnamed extended protocol: planned each time, parameters never part of the text.
    @discardableResult
    package func query(
        _ sql: String, _ parameters: [Value] = [], format: ResultFormat = .text
    ) throws(PostgresError) -> QueryResult {
        let arrays = try ParameterArrays(parameters)
        let result = arrays.withPointers { count, types, values, lengths, formats in
            PQexecParams(handle.raw, sql, count, types, values, lengths, formats, format.rawValue)
        }
        return try checked(result)
    }

    /// Runs statements separated by semicolons, in one transaction unless they say otherwise; stops at the first error.
    package func script(_ sql: String) throws(PostgresError) {
        _ = try checked(PQexec(handle.raw, sql))
    }

    /// The notices since the last call, the oldest first; at most 100 are kept.
    package func takeNotices() -> [Notice] { handle.log.take() }

    package var backendProcessID: Int { Int(PQbackendPID(handle.raw)) }

    /// As libpq counts: 150018 for 15.18.
    package var serverVersion: Int { Int(PQserverVersion(handle.raw)) }

    /// What is known without asking the server: false once a statement has met a broken connection.
    package var isAlive: Bool { handle.isAlive }

    /// True between BEGIN and COMMIT or ROLLBACK, also where the transaction has failed.
    package var isInTransaction: Bool { PQtransactionStatus(handle.raw) != PQTRANS_IDLE }

    package func quoteIdentifier(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    /// Waits for notifications of LISTEN; empty when none came in that time.
    package func notifications(waitMilliseconds: Int) throws(PostgresError) -> [Notification] {
        let deadline = MonotonicTime.now + Int64(waitMilliseconds) * 1_000_000
        while true {
            guard PQconsumeInput(handle.raw) == 1 else { throw handle.connectionError() }
            let received = Notification.drain(handle.raw)
            guard received.isEmpty, MonotonicTime.now < deadline else { return received }
            try waitForSocket(Int16(POLLIN), until: deadline)
        }
    }

    /// Takes over the result; throws unless it is that of a statement which ran to its end.
    func checked(_ result: OpaquePointer?) throws(PostgresError) -> QueryResult {
        guard let result else { throw handle.connectionError() }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            return QueryResult(owning: result)
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            PQclear(result)
            abandonCopy()
            throw PostgresError(.usage, message: "COPY has its own calls")
        default:
            defer { PQclear(result) }
            throw handle.statementError(result)
        }
    }

    private func connect() throws(PostgresError) {
        let deadline = connectDeadline()
        var step = PGRES_POLLING_WRITING
        while step != PGRES_POLLING_OK {
            guard step != PGRES_POLLING_FAILED else { throw handle.connectionError() }
            try waitForSocket(Int16(step == PGRES_POLLING_READING ? POLLIN : POLLOUT), until: deadline)
            if let deadline, MonotonicTime.now >= deadline {
                throw PostgresError(.connection, message: "the server did not answer within the connection timeout")
            }
            step = PQconnectPoll(handle.raw)
        }
    }

    private func connectDeadline() -> Int64? {
        // As libpq reads it: nothing or 0 is no limit, below 2 seconds is 2 seconds, and each host gets the whole time.
        guard let seconds = handle.parameter("connect_timeout").flatMap({ Int64($0) }), seconds > 0 else { return nil }
        let hosts = (handle.parameter("host") ?? handle.parameter("hostaddr") ?? "").split(separator: ",").count
        return MonotonicTime.now + min(max(2, seconds), 86_400) * Int64(max(1, hosts)) * 1_000_000_000
    }

    private func waitForSocket(_ events: Int16, until deadline: Int64?) throws(PostgresError) {
        var poller = pollfd(fd: PQsocket(handle.raw), events: events, revents: 0)
        while true {
            let left = deadline.map { Int32(clamping: max(0, ($0 - MonotonicTime.now + 999_999) / 1_000_000)) } ?? -1
            if poll(&poller, 1, left) >= 0 { return }
            guard errno == EINTR else { throw PostgresError(.connection, message: "waiting for the server failed") }
        }
    }
}
