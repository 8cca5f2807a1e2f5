import Curl
import Delivery
import Operations
import Queue
import Reactor

/// Posts messages over a few HTTP/2 connections and tells the machine how each post ended.
final class Provider {
    private let connections: [CurlDriver]
    private let streams: Int
    private var transfers: [Transfer?]
    private let endpoint: String
    private let options: TransferOptions
    private let events: EventQueue
    private let host: String
    /// By credential; each change of one has a number of its own.
    private var headers: [Int: (list: HeaderList, generation: Int)] = [:]
    private var headerGeneration = 0
    private var urls: [String: EndpointURL] = [:]
    /// The header generation and the project each transfer was set up for last.
    private var prepared: [(generation: Int, project: String)]
    /// Unix seconds, for `Retry-After` dates.
    private let wallClock: () -> Int

    init(
        reactor: Reactor, events: EventQueue, endpoint: String, connections count: Int, streams: Int,
        options: TransferOptions, wallClock: @escaping () -> Int
    ) throws(CurlError) {
        self.endpoint = endpoint
        self.streams = streams
        self.options = options
        self.events = events
        self.wallClock = wallClock
        host = Self.host(of: endpoint)
        var connections: [CurlDriver] = []
        for _ in 0..<count { connections.append(try CurlDriver(reactor: reactor, streams: streams)) }
        self.connections = connections
        transfers = Array(repeating: nil, count: count * streams)
        prepared = Array(repeating: (-1, ""), count: count * streams)
        for connection in connections {
            connection.finished = { [unowned self] transfer, code in finished(transfer, code) }
        }
    }

    /// `host:port` of a URL, for messages to people.
    static func host(of url: String) -> String {
        let rest = url.split(separator: "/", omittingEmptySubsequences: true)
        return rest.count > 1 ? String(rest[1]) : url
    }

    /// The access token that posts carry from now on.
    func use(accessToken: String, credential: Int) throws(CurlError) {
        let list = try HeaderList(["Authorization: Bearer \(accessToken)", "Content-Type: application/json"])
        headerGeneration += 1
        headers[credential] = (list, headerGeneration)
    }

    func post(_ order: PostOrder) {
        do {
            let transfer = try transfer(for: order)
            transfer.setBody(
                RequestBody.make(
                    payload: order.message.payload, ttlDigits: order.message.ttlDigits, secondsLeft: order.secondsLeft))
            transfer.maximumIssues = order.maximumIssues
            try connections[order.slot / streams].multi.add(transfer)
        } catch {
            let failure = Failure(
                .configuration, "libcurl cannot post: \(error)", remedy: "check --endpoint and --ca-file")
            events.append(
                .transferFinished(
                    slot: order.slot, TransferOutcome(.notIssued(failure, isConnectFault: true), issues: 0)))
        }
    }

    private func transfer(for order: PostOrder) throws(CurlError) -> Transfer {
        let transfer: Transfer
        if let known = transfers[order.slot] {
            transfer = known
        } else {
            transfer = try Transfer()
            transfer.tag = order.slot
            transfers[order.slot] = transfer
        }
        let known = headers[order.credential]
        if prepared[order.slot] != (known?.generation ?? 0, order.projectID) {
            let headers = if let known { known.list } else { try HeaderList([]) }
            try transfer.configure(options.settings(url: url(project: order.projectID), headers: headers))
            prepared[order.slot] = (known?.generation ?? 0, order.projectID)
        }
        return transfer
    }

    private func url(project: String) throws(CurlError) -> EndpointURL {
        if let known = urls[project] { return known }
        let url = try EndpointURL("\(endpoint)/v1/projects/\(project)/messages:send")
        urls[project] = url
        return url
    }

    func turn(now: Int64) { for connection in connections { connection.turn(now: now) } }

    var deadline: Int64? { connections.compactMap(\.deadline).min() }

    private func finished(_ transfer: Transfer, _ code: CurlCode) {
        let issues = transfer.issues
        var outcome = TransferOutcome(ending(transfer, code), issues: issues)
        outcome.isHTTP1 = transfer.httpVersion == .http1
        events.append(.transferFinished(slot: transfer.tag, outcome))
    }

    private func ending(_ transfer: Transfer, _ code: CurlCode) -> TransferOutcome.Ending {
        // A final status counts even when the body after it was cut off.
        if transfer.status >= 200 {
            let answer = ProviderAnswer(
                status: transfer.status, retryAfter: transfer.retryAfter, date: transfer.date, body: transfer.response)
            return .answered(Verdict.fcm(answer, now: wallClock()), httpStatus: transfer.status)
        }
        let connectFault = TransportFault.connectFault(code, host: host, detail: transfer.errorText)
        if transfer.issues == 0 {
            let failure = connectFault ?? Failure(.unavailable, "\(host): \(code)", remedy: "check the network")
            return .notIssued(failure, isConnectFault: connectFault != nil)
        }
        return .unknown(reason: "No answer after the request was issued (libcurl \(code.rawValue), \(code)).")
    }
}
