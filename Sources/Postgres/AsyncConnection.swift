import CLibPQ

/// A connection that never blocks, for a loop that waits elsewhere; one statement in flight.
///
/// Not `Sendable`.
///
/// The loop watches `descriptor` for `interest`, calls `advance` when the socket is ready, performs the events and reads
/// both again. While `isConnecting`, the socket may be replaced by another one, even under the same number, so it has to
/// be watched anew after every `advance`. Nobody but the loop limits the time: to give up, drop the object. Looking up a
/// host's name is the one thing libpq does not do in the background.
///
/// After `.lost` (or a `send` that threw with `isConnectionLost`) nothing more comes out of this object.
package final class AsyncConnection {
    package enum Event {
        /// The connection is made; statements may be sent.
        case connected
        /// The statement in flight succeeded.
        case result(QueryResult)
        /// The statement in flight failed; the connection goes on.
        case failed(PostgresError)
        /// The connection could not be made, or broke; what was in flight has an unknown outcome.
        case lost(PostgresError)
        case notification(Notification)
    }

    private enum Phase { case connecting(SocketInterest), idle, busy(Outcome?), lost }
    private enum Outcome { case result(QueryResult), failed(PostgresError) }

    private let handle: ConnectionHandle
    private var phase = Phase.connecting(.write)
    private var hasUnsentBytes = false

    /// Starts to connect; throws where that fails at once (a name that does not resolve, a socket file that is not there).
    package init(_ conninfo: Conninfo) throws(PostgresError) {
        handle = try ConnectionHandle(starting: conninfo)
    }

    /// The socket to watch; -1 when there is none.
    package var descriptor: Int32 {
        if case .lost = phase { return -1 }
        return PQsocket(handle.raw)
    }

    package var interest: SocketInterest {
        switch phase {
        case .connecting(let interest): interest
        case .idle, .busy: hasUnsentBytes ? [.read, .write] : .read
        case .lost: []
        }
    }

    package var isConnecting: Bool {
        if case .connecting = phase { return true }
        return false
    }

    /// Connected and nothing in flight.
    package var isReady: Bool {
        if case .idle = phase { return true }
        return false
    }

    package var isLost: Bool {
        if case .lost = phase { return true }
        return false
    }

    package var backendProcessID: Int { Int(PQbackendPID(handle.raw)) }

    /// The notices since the last call, the oldest first; at most 100 are kept.
    package func takeNotices() -> [Notice] { handle.log.take() }

    /// Sends one statement over the unnamed extended protocol; its outcome comes as an event.
    ///
    /// COPY is not possible here.
    ///
    /// Throws when a statement is in flight, when a parameter cannot be sent, or when the connection is lost.
    package func send(
        _ sql: String, _ parameters: [Value] = [], format: ResultFormat = .text
    ) throws(PostgresError) {
        guard isReady else {
            throw PostgresError(.usage, message: "the connection is not ready for a statement")
        }
        let arrays = try ParameterArrays(parameters)
        let accepted = arrays.withPointers { count, types, values, lengths, formats in
            PQsendQueryParams(handle.raw, sql, count, types, values, lengths, formats, format.rawValue)
        }
        guard accepted == 1, flush() else { throw lose() }
        phase = .busy(nil)
    }

    /// Goes on with what the socket is ready for; never blocks.
    ///
    /// Errors and hang-ups count as readable and writable.
    package func advance(readable: Bool, writable: Bool) -> [Event] {
        switch phase {
        case .lost: return []
        case .connecting(let interest):
            guard (interest.wantsRead && readable) || (interest.wantsWrite && writable) else { return [] }
            return continueConnecting()
        case .idle, .busy:
            return exchange(readable: readable)
        }
    }

    private func continueConnecting() -> [Event] {
        switch PQconnectPoll(handle.raw) {
        case PGRES_POLLING_READING: phase = .connecting(.read)
        case PGRES_POLLING_WRITING: phase = .connecting(.write)
        case PGRES_POLLING_OK:
            guard PQsetnonblocking(handle.raw, 1) == 0 else { return [.lost(lose())] }
            phase = .idle
            return [.connected]
        default: return [.lost(lose())]
        }
        return []
    }

    private func exchange(readable: Bool) -> [Event] {
        var isBroken = false
        if readable { isBroken = PQconsumeInput(handle.raw) == 0 }
        if !isBroken, hasUnsentBytes { isBroken = !flush() }
        var events: [Event] = []
        // What the server sent before it hung up is in libpq's buffer: a result that arrived counts.
        let death = collectResult(isBroken: isBroken, into: &events)
        events += Notification.drain(handle.raw).map { .notification($0) }
        if let death {
            events.append(.lost(lose(death)))
        } else if isBroken || PQstatus(handle.raw) != CONNECTION_OK {
            events.append(.lost(lose()))
        }
        return events
    }

    /// Takes what has arrived of the statement in flight; an error that ends the connection is returned.
    private func collectResult(isBroken: Bool, into events: inout [Event]) -> PostgresError? {
        while case .busy(let outcome) = phase, isBroken || PQisBusy(handle.raw) == 0 {
            guard let raw = PQgetResult(handle.raw) else {
                phase = .idle
                switch outcome {
                case .result(let result)?: events.append(.result(result))
                case .failed(let error)?: events.append(.failed(error))
                case nil: break
                }
                return nil
            }
            switch PQresultStatus(raw) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                phase = .busy(.result(QueryResult(owning: raw)))
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                PQclear(raw)
                return PostgresError(.usage, message: "COPY is not possible on this connection")
            default:
                defer { PQclear(raw) }
                let error = handle.statementError(raw)
                if isBroken || Self.endsConnection(raw) { return error }
                phase = .busy(.failed(error))
            }
        }
        return nil
    }

    private static func endsConnection(_ result: OpaquePointer) -> Bool {
        // No severity: libpq made the error itself, about the connection.
        guard let severity = PQresultErrorField(result, Int32(DiagnosticField.severity)) else { return true }
        return ["FATAL", "PANIC"].contains(String(cString: severity))
    }

    /// Sends what can be sent; false when the connection is broken.
    private func flush() -> Bool {
        let left = PQflush(handle.raw)
        hasUnsentBytes = left == 1
        return left >= 0
    }

    private func lose(_ error: PostgresError? = nil) -> PostgresError {
        let reason = error ?? handle.connectionError()
        phase = .lost
        return reason
    }
}
