import Delivery
import Operations
import Queue

/// How a purge's report is shown.
struct PurgeForm {
    let report: PurgeReport
    let isRehearsal: Bool

    func print(asJSON: Bool) {
        if asJSON {
            StandardStream.output.writeLine(json)
        } else {
            for line in warnings { StandardStream.error.writeLine(line) }
            for line in lines { StandardStream.output.writeLine(line) }
        }
    }

    /// For standard output: nothing but what was done.
    var lines: [String] {
        var lines: [String] = []
        if report.settled > 0 { lines.append("settled \(Self.count(report.settled, "notification"))") }
        for day in report.dropped {
            lines.append("\(isRehearsal ? "would drop" : "dropped") \(day.day), \(Self.size(day.bytes))")
        }
        if report.events > 0 { lines.append("deleted \(Self.count(report.events, "event"))") }
        return lines.isEmpty ? ["nothing to do"] : lines
    }

    /// For standard error: the days that stay although they are old enough.
    var warnings: [String] {
        report.kept.map { day in
            let names = day.notifications.map { held in
                // The id comes from a caller: one line, whatever it holds.
                let name = held.notificationID.map { JSONValue.string($0).text } ?? "(deleted)"
                let until = held.opensUntil.map { ", open until \($0) UTC" } ?? ""
                return "\(JSONValue.string(held.app).text) \(name): \(Self.count(held.messages, "message"))\(until)"
            }
            return "todoke purge: \(isRehearsal ? "would keep" : "kept") \(day.day): \(day.why)"
                + (names.isEmpty ? "" : " (" + names.joined(separator: "; ") + ")")
        }
    }

    private var json: String {
        func number(_ value: Int) -> JSONValue { .number("\(value)") }
        let dropped = report.dropped.map { day in
            JSONValue.object([
                .init("day", .string(day.day.description)), .init("bytes", number(day.bytes)),
                .init("milliseconds", number(day.milliseconds)),
            ])
        }
        let kept = report.kept.map { day in
            let notifications = day.notifications.map { held in
                JSONValue.object([
                    .init("app", .string(held.app)),
                    .init("notification_id", held.notificationID.map { .string($0) } ?? .null),
                    .init("messages", number(held.messages)),
                    .init("open_until", held.opensUntil.map { .string($0) } ?? .null),
                ])
            }
            return JSONValue.object([
                .init("day", .string(day.day.description)), .init("why", .string(day.why)),
                .init("notifications", .array(notifications)),
            ])
        }
        return JSONValue.object([
            .init("dry_run", .boolean(isRehearsal)), .init("settled", number(report.settled)),
            .init("dropped", .array(dropped)), .init("kept", .array(kept)),
            .init("events_deleted", number(report.events)),
            .init("blocked", report.blocked.map { .string($0) } ?? .null),
        ]).text
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// In MB, rounded up: nothing that is there is 0.
    private static func size(_ bytes: Int) -> String { "\((bytes + 999_999) / 1_000_000) MB" }
}
