import Curl
import Delivery
import Operations
import Queue
import Reactor

/// How a post ended: what libcurl says of it, and what that says about its connection.
extension Provider {
    func report(_ slot: Int, _ ending: TransferOutcome.Ending, issues: Int) {
        events.append(.transferFinished(slot: slot, TransferOutcome(ending, issues: issues)))
    }

    func finished(_ connection: ProviderConnection, _ transfer: Transfer, _ code: CurlCode) {
        let status = transfer.status
        guard status >= 200 else {
            report(transfer.tag, unanswered(connection, transfer, code), issues: transfer.issues)
            return
        }
        // A final status counts even when the body after it was cut off.
        let version = transfer.httpVersion
        pool.answered(connection, overHTTP2: version == .http2, now: Reactor.now)
        if code != .ok && code != .http2Stream { pool.drain(connection) }
        // The clock is not needed where the provider asks for nothing.
        let now = status == 200 ? 0 : wallClock()
        let answer =
            status == 200
            ? ProviderAnswer(status: 200, body: transfer.response)
            : ProviderAnswer(
                status: status, retryAfter: transfer.retryAfter, date: transfer.date, body: transfer.response)
        var outcome = TransferOutcome(
            .answered(Verdict.fcm(answer, now: now), httpStatus: status), issues: transfer.issues)
        outcome.isHTTP1 = version == .http1
        if status != 200 { outcome.clockSkewSeconds = ClockSkew.seconds(date: transfer.date, now: now) }
        events.append(.transferFinished(slot: transfer.tag, outcome))
    }

    /// No status came: what is known about the request, and what that says about its connection.
    private func unanswered(
        _ connection: ProviderConnection, _ transfer: Transfer, _ code: CurlCode
    ) -> TransferOutcome.Ending {
        switch transfer.needsConnection {
        case .beforeIssue:
            pool.refusedAnother(connection)
            return .notIssued(gone("takes no more requests on a connection"), isConnectFault: false)
        case .refused:
            pool.drain(connection)
            return .notIssued(gone("refused a request before it processed it"), isConnectFault: false)
        case .connectionDied:
            pool.drain(connection)
            return unknown(code: .receiveFailed)
        case nil:
            break
        }
        if transfer.issues == 0 {
            let hadWorked = connection.answers > 0
            let isFault = pool.failed(connection, now: Reactor.now)
            let fault = TransportFault.noConnection(code, host: host, detail: transfer.errorText)
            let isKnown = TransportFault.connectFault(code, host: host, detail: "") != nil
            // What ends a connection that worked says little about the next one.
            return .notIssued(fault, isConnectFault: isFault && (isKnown || !hadWorked))
        }
        if transfer.requestBytes == 0 {
            pool.drain(connection)
            return .notIssued(gone("ended a connection before a request was sent"), isConnectFault: false)
        }
        // One stream was reset, or was too slow where others were answered meanwhile: the connection is fine.
        let isOnlySlow = code == .timedOut && slots[transfer.tag]?.answersBefore != connection.answers
        if code != .http2Stream && !isOnlySlow { pool.drain(connection, asSuspect: code == .timedOut) }
        return unknown(code: code)
    }

    private func unknown(code: CurlCode) -> TransferOutcome.Ending {
        .unknown(reason: "No answer after the request was issued (libcurl \(code.rawValue), \(code)).")
    }

    private func gone(_ what: String) -> Failure {
        Failure(.unavailable, "\(host) \(what)", remedy: "check the network and proxies on the way")
    }
}
