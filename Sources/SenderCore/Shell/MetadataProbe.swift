import Curl
import Operations
import Reactor

/// Finds out, before the sender starts, whether there is a metadata server.
struct MetadataProbe {
    let server: MetadataServer
    let reactor: Reactor
    let options: TransferOptions
    /// Two pauses of this length between three tries; ns.
    ///
    /// The server of a fresh GKE pod needs a few seconds.
    var pause: Int64 = 1_000_000_000
    /// Whether something happened that goes before the answer, such as a signal.
    var isInterrupted: () -> Bool = { false }
    /// Goes on being served meanwhile.
    var metrics: MetricsServer?

    /// Throws when there is none.
    func run() throws {
        try CurlLibrary.initialize()
        let driver = try CurlDriver(reactor: reactor, streams: 1)
        defer { driver.close() }
        let transfer = try Transfer()
        var settings = try options.settings(for: server.probeRequest)
        settings.connectTimeoutMilliseconds = server.timeoutMilliseconds
        settings.timeoutMilliseconds = server.timeoutMilliseconds
        var why = ""
        for attempt in 0..<3 where !isInterrupted() {
            if attempt > 0 { try wait(until: Reactor.now + pause) { false } }
            var ended: CurlCode?
            driver.finished = { _, code in ended = code }
            try transfer.configure(settings)
            try driver.multi.add(transfer)
            try wait(until: .max, driver) { ended != nil }
            guard let ended else { return }
            if transfer.status >= 200 {
                if server.isAnswer(of: transfer) { return }
                throw DefaultCredentials.noCredentials("what answers at \(server.probeHost) is none")
            }
            why = "\(server.probeHost): \(ended)"
        }
        if !isInterrupted() { throw DefaultCredentials.noCredentials(why) }
    }

    private func wait(until limit: Int64, _ driver: CurlDriver? = nil, _ isDone: () -> Bool) throws(ReactorError) {
        while !isDone() && !isInterrupted() {
            let now = Reactor.now
            guard now < limit else { return }
            driver?.turn(now: now)
            metrics?.turn()
            if isDone() { return }
            // libcurl's own limits end a request that gets no answer.
            let wakeUp = min(limit, driver?.deadline ?? limit, now + 60_000_000_000)
            _ = try reactor.wait(atMostNanoseconds: min(max(0, wakeUp - now), metrics?.delay(now: now) ?? .max))
        }
    }
}

extension MetadataServer {
    /// Only Google's server says so; another cloud has another server at the same address.
    func isAnswer(of transfer: Transfer) -> Bool { transfer.header(named: "Metadata-Flavor") == "Google" }

    var impostor: Failure {
        Failure(
            .configuration, "what answers at \(host) is not Google's metadata server",
            remedy: "name a key file with --credentials, or check GCE_METADATA_HOST")
    }
}
