/// A number of `/stats` by its dotted path, such as `errors.UNREGISTERED`; `/wait` takes the same names.
struct Gauge: Sendable {
    let path: String
    let read: @Sendable (Inspector, _ now: Int64) -> Int

    /// The gauges that are always there, in the order in which they are shown.
    static let fixed: [Gauge] =
        [
            Gauge(path: "accepted") { inspector, _ in inspector.accepted },
            Gauge(path: "validated") { inspector, _ in inspector.validated },
            Gauge(path: "refused") { inspector, _ in inspector.refused },
            Gauge(path: "faulted") { inspector, _ in inspector.faulted },
            Gauge(path: "tokens.issued") { inspector, _ in inspector.tokens },
            Gauge(path: "tokens.refused") { inspector, _ in inspector.tokenRefusals },
            Gauge(path: "other_requests") { inspector, _ in inspector.others },
            Gauge(path: "requests.http1") { inspector, _ in inspector.http1Requests },
            Gauge(path: "requests.http2") { inspector, _ in inspector.http2Requests },
            Gauge(path: "rate.now") { $0.lastSecond(at: $1) },
            Gauge(path: "rate.peak") { inspector, _ in inspector.rate.peak },
            Gauge(path: "rate.last_minute") { $0.lastMinute(at: $1) },
            Gauge(path: "concurrency.now") { inspector, _ in inspector.concurrency },
            Gauge(path: "concurrency.peak") { inspector, _ in inspector.concurrencyPeak },
            Gauge(path: "connections.now") { inspector, _ in inspector.connections.count },
            Gauge(path: "connections.peak") { inspector, _ in inspector.connectionsPeak },
            Gauge(path: "connections.total") { inspector, _ in inspector.connectionsTotal },
            Gauge(path: "streams_per_connection.now") { inspector, _ in inspector.streamsNow },
            Gauge(path: "streams_per_connection.peak") { inspector, _ in inspector.streamsPeak },
            Gauge(path: "targets.distinct") { inspector, _ in inspector.targets.distinct },
            Gauge(path: "targets.seen_twice") { inspector, _ in inspector.targets.repeated },
            Gauge(path: "second_arrivals") { inspector, _ in inspector.secondArrivals },
            Gauge(path: "violations.total") { inspector, _ in inspector.guidance.total },
        ]
        + GuidanceRule.allCases.map { rule in
            Gauge(path: "violations.\(rule.rawValue)") { inspector, _ in inspector.guidance.count(of: rule) }
        }

    /// The gauge of that name; nil when there is none.
    ///
    /// Under `errors.` and `faults.` every name is one, since it is 0 until it happens.
    static func named(_ path: String) -> Gauge? {
        for prefix in ["errors.", "faults."] where path.hasPrefix(prefix) && path.count > prefix.count {
            let name = String(path.dropFirst(prefix.count))
            return prefix == "errors."
                ? Gauge(path: path) { inspector, _ in inspector.errors[name] ?? 0 }
                : Gauge(path: path) { inspector, _ in inspector.faults[name] ?? 0 }
        }
        return fixed.first { $0.path == path }
    }

    /// All that have a value.
    static func all(of inspector: Inspector) -> [Gauge] {
        fixed + inspector.errors.keys.sorted().compactMap { named("errors.\($0)") }
            + inspector.faults.keys.sorted().compactMap { named("faults.\($0)") }
    }
}
