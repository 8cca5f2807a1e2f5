import Foundation
import Operations
import Testing

@testable import SenderCore

@Suite("Exposition of the sender's metrics") struct SenderExpositionTests {
    private var text: String {
        var harness = MachineHarness(apps: ["recipes", "say \"news\""]) { $0.drains = false }
        var metrics = SenderMetrics(settings: harness.machine.settings, now: harness.now)
        metrics.receive(MachineHarness.work(["recipes", "say \"news\""]), now: harness.now)
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 10 * MachineHarness.second))
        harness.machine.openBreaker(app: 1, Failure(.unavailable, "no network", remedy: "wait"), now: harness.now)
        return metrics.exposition(
            ScrapeContext(
                snapshot: harness.machine.snapshot(now: harness.now), isReady: true, suppressedLines: 7,
                connections: (1, 2), process: .current))
    }

    @Test("Every family has help and a type, stands once, and every sample belongs to the family above it")
    func form() throws {
        var names: [String] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# HELP ") {
                names.append(String(words[2]))
                #expect(words.count > 4 && line.hasSuffix("."), "\(line)")
            } else if line.hasPrefix("# TYPE ") {
                #expect(String(words[2]) == names.last)
                #expect(["counter", "gauge", "histogram"].contains(String(words[3])))
                #expect((words[3] == "counter") == words[2].hasSuffix("_total"), "\(line)")
            } else {
                let family = try #require(names.last)
                let name = line.prefix { $0 != "{" && $0 != " " }
                #expect([family, family + "_bucket", family + "_sum", family + "_count"].contains(String(name)))
                #expect(Double(words[words.count - 1]) != nil, "\(line)")
            }
        }
        #expect(Set(names).count == names.count)
    }

    @Test("States of the machine are shown")
    func values() {
        let lines = Set(text.split(separator: "\n").map(String.init))
        for line in [
            #"todoke_breaker_open{app="recipes",fault="unavailable"} 0"#,
            #"todoke_breaker_open{app="say \"news\"",fault="unavailable"} 1"#,
            #"todoke_breaker_open{app="say \"news\"",fault="configuration"} 0"#,
            #"todoke_token_seconds_left{credential="0"} 10"#, "todoke_database_up 1", "todoke_sender_ready 1",
            "todoke_log_lines_suppressed_total 7", "todoke_provider_connections_opened_total 2",
            "todoke_build_info{version=\"\(Version.current)\"} 1", #"todoke_messages_sent_total{app="recipes"} 0"#,
            #"todoke_provider_answer_seconds_bucket{app="recipes",le="+Inf"} 0"#,
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    @Test("The documentation names every metric with its kind, and no other")
    func documentation() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources/OperatorCore/Documentation.docc/Metrics.md")
        let documented = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").compactMap { line in
            // | `name` | kind | …
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return cells.count > 2 && ["counter", "gauge", "histogram"].contains(cells[1])
                ? "\(cells[0].prefix { $0 != "{" }.filter { $0 != "`" }) \(cells[1])" : nil
        }
        let exposed = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { String($0.dropFirst(7)) }
        #expect(Set(exposed).subtracting(documented) == [], "not in Metrics.md")
        #expect(Set(documented).subtracting(exposed) == [], "only in Metrics.md")
        #expect(documented.count == exposed.count)
    }
}
