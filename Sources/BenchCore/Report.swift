import Curl
import Delivery
import Glibc
import Operations

/// The results as members of one tree, which is printed as JSON, or as lines for people.
struct Report {
    let settings: BenchSettings
    let results: Results
    /// Of the server.
    let postgres: String

    /// One line of JSON; every part that was measured has its member.
    var json: String {
        var members: [JSONValue.Member] = [
            .init("version", .string(Version.current)), .init("sink", .string(settings.sink.rawValue)),
            .init("rounds", number(settings.rounds)), .init("backlog", number(settings.backlog)),
            .init("senders", number(settings.senders)), .init("days", number(settings.days)),
            .init("latency_ms", number(settings.latencyMilliseconds)),
            .init("connections", number(settings.connections)), .init("streams", number(settings.streams)),
            .init("processors", number(sysconf(Int32(_SC_NPROCESSORS_ONLN)))),
            .init("libcurl", .string(CurlLibrary.version)), .init("postgres", .string(postgres)),
        ]
        if !results.bare.isEmpty { members.append(.init("bare", bare)) }
        if !results.sender.isEmpty { members.append(.init("sender", sender)) }
        if !results.queue.isEmpty { members.append(.init("queue", queue)) }
        if let idle = results.idle { members.append(.init("idle", self.idle(idle))) }
        if !results.throughputRatios.isEmpty {
            members.append(
                .init(
                    "ratios",
                    .object([
                        .init("throughput_to_bare", median(results.throughputRatios)),
                        .init("cpu_to_bare", median(results.cpuRatios)),
                    ])))
        }
        var bytes: [UInt8] = []
        JSONValue.object(members).write(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private var bare: JSONValue {
        .object([
            .init("messages_per_second", median(results.bare.map(\.messagesPerSecond))),
            .init("cpu_us", median(results.bare.map(\.cpuMicroseconds))),
            .init("rounds", .array(results.bare.map { number($0.messagesPerSecond) })),
        ])
    }

    private var sender: JSONValue {
        let samples = results.sender
        let postgres = samples.compactMap(\.postgresMicroseconds)
        return .object([
            .init("messages_per_second", median(samples.map(\.cost.messagesPerSecond))),
            .init("cpu_us", median(samples.map(\.cost.cpuMicroseconds))),
            .init("postgres_cpu_us", postgres.isEmpty ? .null : median(postgres)),
            .init("statements_per_message", median(samples.map(\.statements))),
            .init("peak_kib", number(samples.map(\.peakKiB).max() ?? 0)),
            .init("growth_kib", number(samples.map(\.growthKiB).max() ?? 0)),
            .init(
                "due_to_recorded_ms",
                percentiles(
                    Statistics.median(samples.map(\.recordedP50)), Statistics.median(samples.map(\.recordedP99)))),
            .init("messages", number(samples.map(\.messages).reduce(0, +))),
            .init("left_pending", number(samples.map(\.pending).max() ?? 0)),
            .init("rounds", .array(samples.map { number($0.cost.messagesPerSecond) })),
        ])
    }

    private var queue: JSONValue {
        let postgres = results.queue.compactMap(\.postgresMicroseconds)
        return .object([
            .init("messages_per_second", median(results.queue.map(\.messagesPerSecond))),
            .init("postgres_cpu_us", postgres.isEmpty ? .null : median(postgres)),
            .init("claim_ms", percentiles(results.queue.flatMap(\.claims))),
            .init("record_ms", percentiles(results.queue.flatMap(\.records))),
            .init("rounds", .array(results.queue.map { number($0.messagesPerSecond) })),
        ])
    }

    private func idle(_ sample: IdleSample) -> JSONValue {
        .object([
            .init("enqueue_to_post_ms", percentiles(sample.milliseconds)),
            .init("messages", number(sample.milliseconds.count)), .init("cpu_percent", number(sample.cpuPercent)),
        ])
    }

    private func percentiles(_ values: [Double]) -> JSONValue {
        percentiles(Statistics.percentile(values, 0.5), Statistics.percentile(values, 0.99))
    }

    private func percentiles(_ p50: Double, _ p99: Double) -> JSONValue {
        .object([.init("p50", number(p50)), .init("p99", number(p99))])
    }

    private func median(_ values: [Double]) -> JSONValue { number(Statistics.median(values)) }

    private func number(_ value: Int) -> JSONValue { .number(String(value)) }

    /// Whole from 1,000 on, else to a thousandth; below that to a millionth.
    private func number(_ value: Double) -> JSONValue {
        let unit: Double = value >= 1_000 ? 1 : value >= 0.1 ? 1_000 : 1_000_000
        let rounded = (value * unit).rounded() / unit
        return .number(rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded))
    }
}
