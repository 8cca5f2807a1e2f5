import Delivery
import Operations

/// The report for people: the same figures as in ``Report/json``, a line each.
extension Report {
    var text: String {
        var lines = [
            "\(settings.sink.rawValue), \(settings.rounds) rounds, medians; \(settings.backlog) messages, \(settings.senders) "
                + "senders, \(settings.connections) connections of \(settings.streams) streams, \(settings.days) day partitions"
                + (settings.latencyMilliseconds > 0 ? ", answers after \(settings.latencyMilliseconds) ms" : ""),
            "Postgres: \(postgres)",
        ]
        let bare = results.bare
        if !bare.isEmpty {
            lines.append(
                row(
                    "bare libcurl", Statistics.median(bare.map(\.messagesPerSecond)),
                    "\(short(Statistics.median(bare.map(\.cpuMicroseconds)))) µs of CPU a message"))
        }
        let sender = results.sender
        if !sender.isEmpty {
            let postgres = sender.compactMap(\.postgresMicroseconds)
            lines.append(
                row(
                    "todoke-sender", Statistics.median(sender.map(\.cost.messagesPerSecond)),
                    "\(short(Statistics.median(sender.map(\.cost.cpuMicroseconds)))) µs, Postgres "
                        + (postgres.isEmpty ? "elsewhere" : "\(short(Statistics.median(postgres))) µs")))
            let statements = Statistics.median(sender.map(\.statements))
            lines.append(
                detail(
                    "statements a message 1/\(Int(1 / max(statements, 1e-9))); memory at most "
                        + "\((sender.map(\.peakKiB).max() ?? 0) / 1_024) MiB, grown by \(sender.map(\.growthKiB).max() ?? 0) KiB"
                ))
            lines.append(
                detail(
                    "due to recorded p50 \(Int(Statistics.median(sender.map(\.recordedP50)))) ms, "
                        + "p99 \(Int(Statistics.median(sender.map(\.recordedP99)))) ms: the time that the backlog took")
            )
        }
        if !results.queue.isEmpty {
            let postgres = results.queue.compactMap(\.postgresMicroseconds)
            lines.append(
                row(
                    "claim + record", Statistics.median(results.queue.map(\.messagesPerSecond)),
                    postgres.isEmpty ? "Postgres elsewhere" : "Postgres \(short(Statistics.median(postgres))) µs"))
            let claims = results.queue.flatMap(\.claims)
            lines.append(
                detail(
                    "claim of \(QueueRun.batch) p50 \(short(Statistics.median(claims))) ms, "
                        + "p99 \(short(Statistics.percentile(claims, 0.99))) ms, \(claims.count) claims"))
        }
        if let idle = results.idle {
            lines.append(
                "  idle, with the emulator: enqueued to posted p50 \(short(Statistics.median(idle.milliseconds))) ms, "
                    + "p99 \(short(Statistics.percentile(idle.milliseconds, 0.99))) ms; \(short(idle.cpuPercent)) % of a core"
            )
        }
        if !results.throughputRatios.isEmpty {
            lines.append(
                "  sender ÷ bare: throughput \(short(Statistics.median(results.throughputRatios))), "
                    + "CPU a message \(short(Statistics.median(results.cpuRatios)))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func row(_ name: String, _ rate: Double, _ rest: String) -> String {
        "  " + padded(name, 16) + padded("\(Int(rate.rounded())) messages/s", 22) + rest
    }

    private func detail(_ text: String) -> String { "    " + text }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    /// Two decimals.
    private func short(_ value: Double) -> String { String((value * 100).rounded() / 100) }
}
