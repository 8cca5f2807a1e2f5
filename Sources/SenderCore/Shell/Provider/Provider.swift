import Curl
import Delivery
import Operations
import Queue
import Reactor

/// Posts messages over a few HTTP/2 connections and tells the machine how each post ended.
final class Provider {
    /// What belongs to one of the machine's slots, whichever connection carries its request.
    final class Slot {
        let transfer: Transfer
        var project: String
        /// How many answers the connection had given when the request was added.
        var answersBefore = 0
        /// When the request was added; monotonic ns.
        var postedAt: Int64 = 0

        init(_ transfer: Transfer, project: String) {
            self.transfer = transfer
            self.project = project
        }
    }

    let pool: ConnectionPool
    var slots: [Slot?]
    private let endpoint: String
    private let options: TransferOptions
    let events: EventQueue
    let host: String
    /// By credential.
    private var headers: [Int: HeaderList] = [:]
    private let noHeaders: HeaderList
    private var urls: [String: EndpointURL] = [:]
    private var reportedCapacity = -1
    /// When to look next for requests that libcurl has forgotten to end.
    private var sweepAt: Int64 = 0
    /// Unix seconds, for `Retry-After` dates and the skew of the provider's clock.
    let wallClock: () -> Int

    init(
        reactor: Reactor, events: EventQueue, endpoint: String, slots count: Int, limits: ConnectionLimits,
        options: TransferOptions, wallClock: @escaping () -> Int
    ) throws(CurlError) {
        self.endpoint = endpoint
        self.options = options
        self.events = events
        self.wallClock = wallClock
        host = Self.host(of: endpoint)
        pool = ConnectionPool(reactor: reactor, limits: limits)
        slots = Array(repeating: nil, count: count)
        noHeaders = try HeaderList([])
        pool.finished = { [unowned self] connection, transfer, code in finished(connection, transfer, code) }
    }

    /// `host:port` of a URL, for messages to people.
    static func host(of url: String) -> String {
        let rest = url.split(separator: "/", omittingEmptySubsequences: true)
        return rest.count > 1 ? String(rest[1]) : url
    }

    /// The access token that posts with this credential carry from now on.
    ///
    /// - Parameter quotaProject: whom the requests are charged to, where it is not the project that they are for.
    func use(accessToken: String, quotaProject: String?, credential: Int) throws(CurlError) {
        var lines = ["Authorization: Bearer \(accessToken)", "Content-Type: application/json"]
        if !options.mayUseProxy { lines.append("User-Agent: \(options.userAgent)") }
        if let quotaProject { lines.append("x-goog-user-project: \(quotaProject)") }
        headers[credential] = try HeaderList(lines)
    }

    /// For metrics: connections there are now, draining ones included, and connections begun so far.
    var connectionCounts: (now: Int, opened: Int) { (pool.count, pool.opened) }

    func post(_ order: PostOrder, now: Int64) {
        do {
            let slot = try slot(for: order)
            guard let connection = try pool.connection(now: now) else {
                // The machine posts within the capacity it was told of, so this is the odd one that crossed a change of it.
                let failure = Failure(.unavailable, "no connection to \(host) has room", remedy: "raise --connections")
                report(order.slot, .notIssued(failure, isConnectFault: false), issues: 0)
                return
            }
            RequestBody.write(to: slot.transfer, order.message, secondsLeft: order.secondsLeft)
            slot.transfer.mayConnect = connection.state == .new
            slot.answersBefore = connection.answers
            slot.postedAt = now
            try connection.add(slot.transfer, now: now)
        } catch {
            let failure =
                error as? Failure
                ?? Failure(.configuration, "libcurl cannot post: \(error)", remedy: "check --endpoint and --ca-file")
            report(order.slot, .notIssued(failure, isConnectFault: true), issues: 0)
        }
    }

    private func slot(for order: PostOrder) throws -> Slot {
        let headers = headers[order.credential] ?? noHeaders
        guard let slot = slots[order.slot] else {
            let transfer = try Transfer()
            transfer.tag = order.slot
            // Where one request goes twice is for the machine to say.
            transfer.maximumIssues = 1
            var settings = try options.settings(url: url(project: order.projectID), headers: headers)
            // How long connections are used is for the pool to say, which makes a new one where libcurl would ask again.
            settings.maximumIdleSeconds = 86_400
            settings.addressSeconds = -1
            // Whether a connection is silent is for the pool to see, once for all requests on it.
            settings.lowSpeedBytesPerSecond = 0
            settings.maximumResponseBytes = 65_536
            // One line of the list costs less; but a proxy gets none of the list.
            if !options.mayUseProxy { settings.userAgent = nil }
            try transfer.configure(settings)
            let slot = Slot(transfer, project: order.projectID)
            slots[order.slot] = slot
            return slot
        }
        // libcurl hears of it only where it is another list.
        slot.transfer.setHeaders(headers)
        if slot.project != order.projectID {
            slot.transfer.setURL(try url(project: order.projectID))
            slot.project = order.projectID
        }
        return slot
    }

    private func url(project: String) throws -> EndpointURL {
        if let known = urls[project] { return known }
        // Nothing else stays what it is in a path.
        guard QuotaProject.isValid(project), !project.isEmpty, !project.hasPrefix(".") else {
            throw Failure(
                .configuration, "todoke.apps.project_id is not a project's id",
                remedy: "set project_id of the app in todoke.apps to the id of its Firebase project")
        }
        let url = try EndpointURL("\(endpoint)/v1/projects/\(project)/messages:send")
        urls[project] = url
        return url
    }

    /// Starts what was posted, and tells the machine how much may be in flight from now on.
    func turn(now: Int64) {
        pool.turn(now: now)
        if now >= sweepAt { sweep(now: now) }
        let capacity = pool.capacity
        guard capacity != reportedCapacity else { return }
        reportedCapacity = capacity
        events.append(.capacity(streams: capacity))
    }

    var deadline: Int64? {
        guard pool.hasInFlight else { return pool.deadline }
        return min(pool.deadline ?? sweepAt, sweepAt)
    }

    /// Ends requests whose time was over a while ago.
    ///
    /// libcurl has one timer for each, and loses it where something else runs the request in the timer's last
    /// millisecond: on a quiet connection nobody would hear of that request again.
    private func sweep(now: Int64) {
        sweepAt = now + 1_000_000_000
        let oldest = now - Int64(options.timeoutMilliseconds + 2_000) * 1_000_000
        pool.giveUp { transfer in slots[transfer.tag].map { $0.postedAt < oldest } ?? false }
    }
}
