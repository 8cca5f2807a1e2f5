import Delivery

/// Turns times of the monotonic clock into those of the wall.
struct WallClock {
    let now: Int64
    let time: WallTime

    /// As RFC 3339 writes it.
    func timestamp(_ moment: Int64) -> String {
        let microseconds = time.seconds * 1_000_000 + Int64(time.microseconds) - (now - moment) / 1_000
        return WallTime(seconds: microseconds / 1_000_000, microseconds: Int(microseconds % 1_000_000)).timestamp
    }
}

extension Inspector {
    /// All gauges as nested objects, and what is no number of its own.
    func stats(_ clock: WallClock, more: [(String, JSONValue)] = []) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("since", .string(clock.timestamp(start))), ("seconds", .int(Int((clock.now - start) / 1_000_000_000))),
        ]
        var groups: [(name: String, members: [(String, JSONValue)])] = [("errors", []), ("faults", [])]
        for gauge in Gauge.all(of: self) {
            let value = JSONValue.int(gauge.read(self, clock.now))
            guard let dot = gauge.path.firstIndex(of: ".") else {
                members.append((gauge.path, value))
                continue
            }
            let group = String(gauge.path[..<dot])
            let name = String(gauge.path[gauge.path.index(after: dot)...])
            if let index = groups.firstIndex(where: { $0.name == group }) {
                groups[index].members.append((name, value))
            } else {
                groups.append((group, [(name, value)]))
            }
        }
        if let index = groups.firstIndex(where: { $0.name == "targets" }) {
            groups[index].members.append(("is_tracked", .boolean(isTrackingTargets)))
            // False when there were more than the tables hold: the numbers are lower bounds then.
            groups[index].members.append(("is_exact", .boolean(targets.isExact && arrivals.isExact)))
        }
        return .members(members + groups.map { ($0.name, .members($0.members)) } + more)
    }

    /// Open connections, oldest first, and the last that ended.
    func connectionList(_ clock: WallClock) -> JSONValue {
        .members([
            ("open", .array(connections.values.sorted { $0.id < $1.id }.map { $0.tree(clock) })),
            ("ended", .array(endedConnections.map { $0.tree(clock) })),
        ])
    }

    func violationList(_ clock: WallClock) -> JSONValue {
        .members([
            ("total", .int(guidance.total)),
            (
                "rules",
                .array(
                    GuidanceRule.allCases.map { rule in
                        .members([
                            ("name", .string(rule.rawValue)), ("count", .int(guidance.count(of: rule))),
                            ("rule", .string(rule.rule)), ("source", .string(rule.source)),
                            ("examples", .array(guidance.examples(of: rule).map { $0.tree(clock) })),
                        ])
                    })
            ),
        ])
    }
}

extension ConnectionEntry {
    fileprivate func tree(_ clock: WallClock) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("id", .int(id)), ("opened", .string(clock.timestamp(opened))),
            ("http", isHTTP2.map { .string($0 ? "2" : "1.1") } ?? .null),
            ("requests", .int(requests)), ("messages", .int(messages)), ("streams", .int(streams)),
            ("peak_streams", .int(peakStreams)),
        ]
        if let ended { members.append(("ended", .string(clock.timestamp(ended)))) }
        return .members(members)
    }
}

extension Violation {
    fileprivate func tree(_ clock: WallClock) -> JSONValue {
        var members: [(String, JSONValue)] = [("time", .string(clock.timestamp(time)))]
        if let target { members.append(("target", .string(target.text))) }
        return .members(members + [("detail", .string(detail))])
    }
}

extension MessageRing.Entry {
    func tree(_ clock: WallClock) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("time", .string(clock.timestamp(record.time))), ("outcome", .string(record.outcome.rawValue)),
            ("status", record.status == 0 ? .null : .int(record.status)),
        ]
        if !record.code.isEmpty { members.append(("code", .string(record.code))) }
        if let seconds = record.retryAfter { members.append(("retry_after", .int(seconds))) }
        if let target {
            members.append(("target_kind", .string(target.kind.rawValue)))
            members.append(("target", .string(target.text)))
        }
        if record.delay > 0 { members.append(("delay_ms", .int(Int(record.delay / 1_000_000)))) }
        return .members(
            members + [
                ("connection", .int(record.connectionID)), ("http", .string(record.isHTTP2 ? "2" : "1.1")),
            ])
    }
}
