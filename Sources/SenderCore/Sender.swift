import Curl
import Delivery
import FoundationEssentials
import Operations
import Postgres
import Queue
import Reactor

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The program behind `todoke-sender`: takes its arguments and environment, gives back its exit code.
package enum Sender {
    package static func run(arguments: [String], environment: [String: String]) -> Int32 {
        Program.run(SenderOptions.table, arguments: arguments, environment: environment) { options in
            // Before libcurl makes a thread of its own, so that the signals reach the descriptor only.
            SignalSource.block(SignalListener.signals)
            SignalSource.ignoreBrokenPipes()
            let end = try start(options, environment)
            if let failure = end.failure { throw failure }
            return end.exit
        }
    }

    private static func start(
        _ options: ParsedOptions, _ environment: [String: String]
    ) throws -> (exit: ExitCode, failure: Failure?) {
        let apps = try apps(options)
        let plan = try CredentialPlan(
            options: options.strings("credentials"), apps: apps, environment: environment, isFile: SmallFile.exists)
        var settings = try machineSettings(options, apps: apps)
        settings.apps = zip(apps, plan.credentialOfApp).map { MachineSettings.App(name: $0, credential: $1) }
        let log = try options.log()
        let caFile = options.string("ca-file")
        if let caFile { try AuthorityFile.check(path: caFile) }
        var credentials: [Credential] = []
        for source in plan.sources { credentials.append(try source.load()) }
        let quotaProject = try QuotaProject.find(environment)
        let endpoint = try endpoint(options)
        let metricsAddress = try metricsAddress(options)
        let limits = try connectionLimits(options)
        let databaseSettings = try databaseSettings(options, settings)
        let transferOptions = TransferOptions(
            caFile: caFile, timeoutMilliseconds: Int(settings.requestTimeout / 1_000_000) - 500,
            proxy: TransferOptions.namesProxy(environment) ? nil : "", userAgent: "todoke/\(Version.current)")
        let reactor = try Reactor()
        let events = EventQueue()
        let signals = try SignalListener(reactor: reactor, events: events)
        defer { withExtendedLifetime(signals) {} }
        let server = try metricsAddress.map { address throws(Failure) in try MetricsServer(address, reactor: reactor) }
        try CurlLibrary.initialize()
        for case .metadataServer(let metadataServer) in credentials {
            try MetadataProbe(
                server: metadataServer, reactor: reactor, options: transferOptions,
                isInterrupted: { !events.isEmpty }, metrics: server
            ).run()
        }
        let database = QueueDatabase(
            databaseSettings, reactor: reactor, events: events)
        let provider = try Provider(
            reactor: reactor, events: events, endpoint: endpoint, slots: settings.slots,
            limits: limits, options: transferOptions, wallClock: wallClock)
        var tokens: [TokenFetcher] = []
        for (index, credential) in credentials.enumerated() {
            tokens.append(
                try TokenFetcher(
                    credential: credential, index: index, quotaProject: quotaProject, reactor: reactor, events: events,
                    options: transferOptions, wallClock: wallClock))
        }
        var generator = SystemRandomNumberGenerator()
        let machine = SenderMachine(settings: settings, seed: generator.next(), now: Reactor.now)
        log.info("started", ["apps": settings.apps.map(\.name).joined(separator: ","), "version": Version.current])
        for (source, credential) in zip(plan.sources, credentials) {
            log.info("credentials", ["source": source.description, "for": credential.name])
        }
        if let server { log.info("serving metrics", ["url": "\(server.url)/metrics"]) }
        signals.reload = CredentialReload(sources: plan.sources, tokens: tokens, log: log).run
        let loop = SenderLoop(
            reactor: reactor, events: events, database: database, provider: provider, tokens: tokens, log: log,
            machine: machine, server: server,
            health: SenderHealth(settings: settings, statementTimeout: databaseSettings.statementTimeout))
        return try loop.run()
    }

    private static func apps(_ options: ParsedOptions) throws(Failure) -> [String] {
        let apps = options.strings("app")
        guard !apps.isEmpty else {
            throw Failure(.usage, "--app is missing", remedy: "name at least one app; see todoke-sender --help")
        }
        guard !apps.contains("") else {
            throw Failure(.usage, "--app is empty", remedy: "name an app of todoke.apps")
        }
        guard Set(apps).count == apps.count else {
            throw Failure(.usage, "an app is named twice in --app", remedy: "name each app once")
        }
        return apps
    }

    private static func machineSettings(
        _ options: ParsedOptions, apps: [String]
    ) throws(Failure) -> MachineSettings {
        var settings = MachineSettings(apps: apps)
        let streams = try options.integer("streams", in: 1...1_000) ?? 100
        settings.slots = (try options.integer("connections", in: 1...32) ?? ConnectionLimits().connections) * streams
        let lease = try options.integer("lease", in: 2...3_600) ?? 60
        settings.leaseSeconds = lease
        settings.requestTimeout = Int64(min(30_000, max(min(10_000, lease * 500), lease * 1_000 / 3))) * 1_000_000
        settings.drains = options.isSet("drain")
        settings.maximumAttempts = try options.integer("max-attempts", in: 1...1_000) ?? 10
        settings.retry = RetryPolicy(base: try options.integer("retry-base", in: 0...3_600) ?? 10)
        settings.maximumAge = Int64(try options.integer("max-age", in: 1...31_536_000) ?? 86_400) * 1_000_000_000
        settings.ramp = Int64(try options.integer("ramp", in: 0...86_400) ?? 60) * 1_000_000_000
        settings.pollInterval = Int64(try options.integer("poll-interval", in: 10...60_000) ?? 1_000) * 1_000_000
        settings.startupTimeout = Int64(try options.integer("startup-timeout", in: 1...3_600) ?? 30) * 1_000_000_000
        settings.stopTimeout = Int64(try options.integer("stop-timeout", in: 1...3_600) ?? 30) * 1_000_000_000
        return settings
    }

    private static func databaseSettings(
        _ options: ParsedOptions, _ settings: MachineSettings
    ) throws(Failure) -> QueueDatabaseSettings {
        func conninfo(_ option: String, _ text: String?) throws(Failure) -> Conninfo {
            do {
                return try Conninfo(text, applicationName: "todoke-sender", writes: true)
            } catch {
                let failure = Failure(error, while: "reading --\(option)")
                throw Failure(failure.exit, failure.what, remedy: "check --\(option) or the PG* variables")
            }
        }
        let url = options.string("database-url")
        let names = settings.apps.map(\.name)
        var database = QueueDatabaseSettings(
            conninfo: try conninfo("database-url", url),
            directConninfo: try conninfo("direct-database-url", options.string("direct-database-url") ?? url),
            registration: [
                .text(hostName()), .int(Int(getpid())), .text(Version.current), .array(names.map { Optional($0) }),
            ], appNames: names, leaseSeconds: settings.leaseSeconds)
        let timeout = try options.integer("statement-timeout", in: 1...3_600) ?? 30
        database.statementTimeout = Int64(timeout) * 1_000_000_000
        return database
    }

    private static func metricsAddress(_ options: ParsedOptions) throws(Failure) -> ListenAddress? {
        guard let text = options.string("metrics-listen") else { return nil }
        return try ListenAddress(text, option: "metrics-listen", barePortHost: "127.0.0.1")
    }

    private static func connectionLimits(_ options: ParsedOptions) throws(Failure) -> ConnectionLimits {
        var limits = ConnectionLimits()
        limits.connections = try options.integer("connections", in: 1...32) ?? limits.connections
        limits.streams = try options.integer("streams", in: 1...1_000) ?? limits.streams
        if let age = try options.integer("connection-age", in: 1...86_400) { limits.age = Int64(age) * 1_000_000_000 }
        limits.requests = try options.integer("connection-requests", in: 0...1_000_000_000) ?? limits.requests
        return limits
    }

    static func endpoint(_ options: ParsedOptions) throws(Failure) -> String {
        var text = try options.required("endpoint")
        while text.hasSuffix("/") { text.removeLast() }
        let url: EndpointURL
        do {
            url = try EndpointURL(text)
        } catch {
            throw Failure(
                // Not quoted: a password may be in it.
                .usage, "--endpoint cannot be used: \(error)",
                remedy: "give https://HOST")
        }
        guard url.scheme == "https" else {
            throw Failure(
                .usage, "--endpoint is not https, without which there is no HTTP/2 to post over",
                remedy: "give https://HOST, and a certificate of one's own with --ca-file")
        }
        return text
    }

    private static func wallClock() -> Int { Int(Date.now.timeIntervalSince1970) }

    private static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        let isKnown = gethostname(&buffer, buffer.count - 1) == 0
        return isKnown
            ? String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : "unknown"
    }
}
