import Delivery
import Operations
import Testing

@testable import BenchCore

@Suite struct ReportTests {
    static func sender(rate: Double, cpu: Double, postgres: Double? = 20, peak: Int = 40_000) -> SenderSample {
        SenderSample(
            messages: 1_000, pending: 0, cost: Sample(messagesPerSecond: rate, cpuMicroseconds: cpu),
            postgresMicroseconds: postgres, statements: 0.004, peakKiB: peak, growthKiB: 100, recordedP50: 10,
            recordedP99: 20)
    }

    static func settings(_ arguments: String...) throws -> BenchSettings {
        guard case .run(let options) = try BenchOptions.table.parse(arguments: arguments, environment: [:]) else {
            throw Failure(.software, "these are no options", remedy: "")
        }
        return try BenchSettings(options, program: "/opt/bin/todoke-bench")
    }

    private static func report(_ results: Results) throws -> (text: String, json: JSONValue) {
        let report = Report(settings: try settings("--rounds=2"), results: results, postgres: "fsync on")
        return (report.text, try JSONValue.parse(Array(report.json.utf8).span))
    }

    private static func number(_ json: JSONValue?, _ path: String...) -> String? {
        var value = json
        for name in path { value = value?[name] }
        guard case .number(let text)? = value else { return nil }
        return text
    }

    @Test func `medians of the rounds, and the largest of what must never be exceeded`() throws {
        var results = Results()
        results.bare = [30_000, 10_000, 20_000].map { Sample(messagesPerSecond: $0, cpuMicroseconds: 20) }
        results.sender = [
            Self.sender(rate: 12_000, cpu: 26), Self.sender(rate: 9_000, cpu: 25, peak: 50_000),
            Self.sender(rate: 11_000, cpu: 24),
        ]
        let (text, json) = try Self.report(results)
        #expect(Self.number(json, "bare", "messages_per_second") == "20000")
        #expect(Self.number(json, "sender", "messages_per_second") == "11000")
        #expect(Self.number(json, "sender", "cpu_us") == "25")
        #expect(Self.number(json, "sender", "peak_kib") == "50000")
        #expect(Self.number(json, "sender", "statements_per_message") == "0.004")
        #expect(Self.number(json, "ratios", "throughput_to_bare") == "0.55")
        #expect(Self.number(json, "ratios", "cpu_to_bare") == "1.25")
        #expect(text.contains("sender ÷ bare: throughput 0.55, CPU a message 1.25"))
        #expect(text.contains("statements a message 1/250"))
    }

    @Test func `what was not measured has no member`() throws {
        var results = Results()
        results.sender = [Self.sender(rate: 1, cpu: 1, postgres: nil)]
        let (text, json) = try Self.report(results)
        #expect(json["sender"]?["postgres_cpu_us"] == .null)
        #expect(json["bare"] == nil && json["queue"] == nil && json["idle"] == nil && json["ratios"] == nil)
        #expect(text.contains("Postgres elsewhere") && !text.contains("÷"))
    }

    @Test func `the idle part tells its percentiles`() throws {
        var results = Results()
        results.idle = IdleSample(milliseconds: (1...100).map(Double.init), cpuPercent: 0.25)
        let (text, json) = try Self.report(results)
        #expect(Self.number(json, "idle", "enqueue_to_post_ms", "p50") == "50")
        #expect(Self.number(json, "idle", "enqueue_to_post_ms", "p99") == "99")
        #expect(Self.number(json, "idle", "cpu_percent") == "0.25")
        #expect(text.contains("idle, with the emulator: enqueued to posted p50 50.0 ms, p99 99.0 ms; 0.25 % of a core"))
    }

    @Test(arguments: [
        (["--part=fast"], "no part \"fast\""), (["--sink=apache"], "nghttpd or emulator"),
        (["--latency=5"], "nghttpd cannot answer late"), (["--rounds=0"], "--rounds"), (["--days=2"], "--days"),
        (["--senders=33"], "--senders"), (["--backlog=many"], "--backlog"),
    ])
    func `settings that make no sense are refused by name`(_ arguments: [String], _ words: String) throws {
        guard case .run(let options) = try BenchOptions.table.parse(arguments: arguments, environment: [:]) else {
            return #expect(Bool(false), "these are options")
        }
        let failure = #expect(throws: Failure.self) { try BenchSettings(options, program: "todoke-bench") }
        #expect(failure?.exit == .usage && failure?.what.contains(words) == true, "\(failure?.what ?? "")")
    }

    @Test func `without --part all but the idle part, each once`() throws {
        #expect(try Self.settings().parts == [.bare, .sender, .queue])
        #expect(try Self.settings("--part=idle", "--part=bare", "--part=idle").parts == [.idle, .bare])
    }
}
