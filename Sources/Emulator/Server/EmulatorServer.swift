import HTTP2
import Operations
import Reactor
import Signing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The loop: waits for sockets, lets the service answer, writes the log, and then the answers.
final class EmulatorServer {
    /// The URL under which clients find it.
    let endpoint: String

    private let reactor: Reactor
    private let gate: Gate
    private let signals: SignalSource
    private let shared: ServerShared
    private let service: EmulatedService
    private let inspector: Inspector
    private let control: ControlServer
    private let http1: HTTP1Front
    private let headers = HTTP2AnswerHeaders()
    private var clients: [Int32: ClientSource] = [:]
    private var connectionCount = 0
    /// Clients that were touched in this turn.
    private var touched: [ClientSource] = []
    private var isStopping = false
    /// The listening descriptor that is watched; nil while no clients are let in.
    private var watched: Int32?
    /// The scenario wanted something of the server in the last turn.
    private var hasConditions = false

    /// Listens, and writes `ca.pem` and `control`; clients are served from `run` on.
    init(
        settings: EmulatorSettings, directory: EmulatorDirectory, serviceAccount: ServiceAccount, user: AuthorizedUser
    ) throws {
        let authority = try CertificateAuthority(commonName: "fcm-emulator")
        gate = try Gate(host: settings.host, port: settings.port, authority: authority)
        let shownHost = ["0.0.0.0", "::"].contains(settings.host) ? "localhost" : settings.host
        endpoint = "https://\(shownHost.contains(":") ? "[\(shownHost)]" : shownHost):\(gate.port)"

        var serverSettings = ServerSettings()
        serverSettings.maxConcurrentStreams = settings.maxConcurrentStreams
        shared = try ServerShared(settings: serverSettings)
        try directory.write("ca.pem", authority.certificatePEM())

        inspector = Inspector(now: Reactor.now, trackedTargets: settings.trackedTargets)
        service = EmulatedService(
            settings: settings,
            tokenEndpoint: TokenEndpoint(
                account: serviceAccount, user: user, audience: ServiceAccount.tokenURI(endpoint: endpoint),
                lifetime: settings.tokenLifetime),
            log: try settings.acceptedLog.map {
                try AcceptedLog(directory: directory, projects: settings.projects, interval: $0)
            },
            inspector: inspector, maxBodyBytes: serverSettings.maxBodyBytes)
        reactor = try Reactor()
        http1 = try HTTP1Front(reactor: reactor, inspector: inspector, maxBodyBytes: serverSettings.maxBodyBytes)
        control = try ControlServer(
            host: settings.controlHost, port: settings.controlPort, inspector: inspector, service: service,
            reactor: reactor)
        try directory.write("control", [UInt8]("\(control.url)\n".utf8))
        signals = try SignalSource([SIGTERM, SIGINT])
    }

    /// One line about what was served.
    var summary: String {
        "accepted=\(inspector.accepted) validated=\(inspector.validated) refused=\(inspector.refused) "
            + "tokens=\(inspector.tokens + inspector.tokenRefusals) faults=\(service.faultCount)"
    }

    /// Serves until SIGTERM or SIGINT.
    func run() throws {
        try applyConditions(at: Reactor.now)
        try reactor.watch(
            signals.descriptor, .read,
            CallbackSource { [unowned self] in while signals.next() != nil { isStopping = true } })
        defer {
            if let watched { reactor.unwatch(watched) }
            reactor.unwatch(signals.descriptor)
        }
        while !isStopping {
            let again = touched.contains { $0.hasMore }
            for client in touched where client.hasMore { client.ready(.read) }
            let now = Reactor.now
            let delay = [
                service.delayUntilNextAnswer(), control.delay(now: now), http1.delay(now: now), conditionsDelay(now),
            ]
            .compactMap(\.self).min()
            try reactor.wait(atMostNanoseconds: again ? 0 : delay)
            try finishTurn()
        }
    }

    private func finishTurn() throws {
        try applyConditions(at: Reactor.now)
        http1.receive { service.handle($0) }
        service.answerDue()
        // The log comes first: whoever has an answer finds the message in accepted.ndjson.
        try service.endTurn()
        http1.flush()
        let finished = touched
        touched.removeAll(keepingCapacity: true)
        for client in finished {
            let connection = client.connection.raw
            client.connection.isTouched = false
            observe(client)
            connection.flush()
            observe(client)
            if connection.phase == .closed {
                forget(client)
                continue
            }
            if connection.phase == .plain {
                reactor.unwatch(connection.descriptor)
                clients[connection.descriptor] = nil
                http1.add(connection, id: client.connection.id)
                continue
            }
            if connection.phase == .silent {
                try reactor.watch(connection.descriptor, .end, client)
                continue
            }
            let interest: Interest = connection.wantsWrite ? [.read, .write] : .read
            if interest != client.interest {
                client.interest = interest
                try reactor.watch(connection.descriptor, interest, client)
            }
            if client.hasMore { client.connection.touch() }
        }
        shared.keepsHeaders = service.needsHeaders
        control.turn()
    }

    /// Lets clients in or not, and ends those that are idle, as the scenario says.
    private func applyConditions(at now: Int64) throws {
        let conditions = service.serverConditions
        guard conditions != ServerConditions() || hasConditions || watched == nil else { return }
        hasConditions = conditions != ServerConditions()
        try gate.apply(conditions, elapsed: service.elapsed(at: now)) { reactor.unwatch($0) }
        if gate.descriptor != watched {
            // What is closed is unwatched already, and its number may be the new one.
            if let watched, watched == gate.listener?.descriptor { reactor.unwatch(watched) }
            watched = gate.descriptor
            if let watched {
                try reactor.watch(watched, .read, CallbackSource { [unowned self] in acceptClients() })
            }
        }
        guard let idle = conditions.closeIdle else { return }
        for client in clients.values where client.isIdle && now - client.lastActive >= idle.after {
            client.connection.reset(by: idle.by)
        }
    }

    /// Nanoseconds until `applyConditions` has something to do; nil when nothing is planned.
    private func conditionsDelay(_ now: Int64) -> Int64? {
        let conditions = service.serverConditions
        // Without a listener its port is tried again, whatever the scenario has become meanwhile.
        guard conditions != ServerConditions() || watched == nil else { return nil }
        var delays = [gate.delay(conditions, elapsed: service.elapsed(at: now))].compactMap(\.self)
        if let idle = conditions.closeIdle {
            delays += clients.values.filter(\.isIdle).map { max(0, $0.lastActive + idle.after - now) }
        }
        return delays.min()
    }

    /// Before the answers go out and after: between the two is what the client has open.
    private func observe(_ client: ClientSource) {
        let connection = client.connection
        guard connection.raw.phase == .open else { return }
        inspector.observed(connection: connection.id, isHTTP2: true, streams: connection.raw.openStreams)
    }

    private func forget(_ client: ClientSource) {
        let descriptor = client.connection.raw.descriptor
        inspector.ended(connection: client.connection.id, at: Reactor.now)
        reactor.unwatch(descriptor)
        clients[descriptor] = nil
        client.connection.release()
    }

    private func acceptClients() {
        while let (descriptor, context) = gate.accept() {
            // Both fail only when memory or descriptors run out: this client is turned away, the others stay.
            guard let raw = try? ServerConnection(accepted: descriptor, context: context, shared: shared)
            else { continue }
            connectionCount += 1
            let connection = HTTP2Connection(raw, id: connectionCount, headers: headers)
            let client = ClientSource(connection, service: service)
            // Neither owns the other: the server lives as long as the process, the client until it is forgotten.
            connection.onTouch = { [unowned self, unowned client] in touched.append(client) }
            clients[descriptor] = client
            inspector.opened(connection: connection.id, at: Reactor.now)
            if (try? reactor.watch(descriptor, .read, client)) == nil { forget(client) }
        }
    }
}
