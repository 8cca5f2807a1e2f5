import Foundation
import Postgres
import TestSupport
import Testing

@testable import Delivery

/// `todoke.enqueue` against the rules and the template that the producer goes by, on messages that are good and bad.
@Suite("todoke.enqueue and the rules", .scratchDatabase(prepare: migrate))
struct EnqueueVectorTests {
    private let database: ScratchDatabase

    init() throws { database = try ScratchDatabase.shared() }

    private static func vectors() throws -> [(name: String, message: JSONValue)] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "DeliveryTests/Vectors/open-fcm-payload.jsonl")
        return try [UInt8](Data(contentsOf: file)).split(separator: UInt8(ascii: "\n")).compactMap { line in
            let value = try JSONValue.parse(Array(line).span)
            guard case .string(let name)? = value["name"], let message = value["input"] else { return nil }
            return (name, message)
        }
    }

    /// What the producer would queue; nil where it refuses the message.
    private func produced(_ message: [UInt8]) -> [UInt8]? {
        guard
            let template = try? Template(message, TemplateAdditions(notificationID: "n", collapseID: "n")),
            template.issues().isEmpty
        else { return nil }
        var output: [UInt8] = []
        var desk = RenderingDesk(TimeZones { _, _ in nil })
        guard template.render(TemplateRow(), &desk, into: &output) == nil else { return nil }
        let report = MessageRules.check(output.span)
        return report.isValid && report.target != nil ? output : nil
    }

    /// Whether it was queued as `expected`; nil where it is refused.
    private func enqueued(_ message: [UInt8], _ expected: [UInt8], _ connection: Connection) throws -> Bool? {
        try connection.script("BEGIN")
        defer { try? connection.script("ROLLBACK") }
        do throws(PostgresError) {
            let row = try connection.query(
                "SELECT message_id FROM todoke.enqueue('recipes', 'n', NULL, $1)", [.utf8(message)])
            return try connection.query(
                "SELECT payload::jsonb = $2::jsonb FROM todoke.payloads WHERE id = $1::bigint",
                [.int(row.int(0, 0) ?? 0), .utf8(expected)]
            ).bool(0, 0)
        } catch {
            guard error.sqlState?.classCode == "22" else { throw error }
            return nil
        }
    }

    @Test("What the rules take is queued alike; what is refused, the rules refuse too")
    func vectors() throws {
        let connection = try database.connect()
        var counts = (same: 0, refused: 0, left: [String]())
        for (name, message) in try Self.vectors() {
            var bytes: [UInt8] = []
            message.write(into: &bytes)
            let expected = produced(bytes)
            switch try enqueued(bytes, expected ?? bytes, connection) {
            case true? where expected != nil: counts.same += 1
            case nil where expected == nil: counts.refused += 1
            case .some where expected == nil: counts.left.append(name)
            case let found: Issue.record("\(name): \(found.map { "\($0)" } ?? "refused")")
            }
        }
        #expect(counts.same > 60 && counts.refused > 50, "\(counts)")
        // SQL checks less than the rules; how much less is not to grow.
        #expect(counts.left.count <= 40, "\(counts.left)")
    }

    @Test("Every field of FCM's is known, in both spellings")
    func fields() throws {
        let connection = try database.connect()
        let places: [(SchemaID, String, String)] = [
            (.message, "", ""), (.notification, #","notification":{"#, "}"), (.androidConfig, #","android":{"#, "}"),
            (.androidNotification, #","android":{"notification":{"#, "}}"),
            (.androidConfigV2, #","android_v2":{"#, "}"),
            (.androidNotificationV2, #","android_v2":{"remote_notification":{"notification":{"#, "}}}"),
            (.apnsConfig, #","apns":{"#, "}"), (.webpushConfig, #","webpush":{"#, "}"),
        ]
        for (id, before, after) in places {
            for field in Schema.all[id.rawValue].fields where field.name != "token" {
                for name in Set([field.name, field.camelName]) {
                    let opening = before.isEmpty ? "," : before
                    let message = Array(#"{"token":"t"\#(opening)"\#(name)":null\#(after)}"#.utf8)
                    #expect(try enqueued(message, message, connection) != nil, "\(id) \(name)")
                    let unknown = Array(#"{"token":"t"\#(opening)"\#(name)x":null\#(after)}"#.utf8)
                    #expect(try enqueued(unknown, unknown, connection) == nil, "\(id) \(name)x")
                }
            }
        }
    }

    @Test("What is too large for FCM by a byte is refused, and nothing smaller", arguments: ["token", "topic"])
    func sizes(_ kind: String) throws {
        let connection = try database.connect()
        let shapes: [(before: String, after: String)] = [
            (#""notification":{"title":"a","body":""#, #""}"#), (#""data":{"é":""#, #""}"#),
            (#""notification":{"title":"a"},"android":{"notification":{"channel_id":""#, #""}}"#),
            (
                #""notification":{"title":"é"},"androidV2":{"data":{"k":"v"},"remoteNotification":{"notification":{"body":""#,
                #""}}}"#
            ),
            (#""webpush":{"data":{"k":""#, #""}}"#),
            (#""webpush":{"notification":{"a, b":[1, {"x": 2}],"title":""#, #""}}"#),
            (#""apns":{"payload":{"aps":{"alert":"\"quoted\" \\"},"own": [1, 2], "k":""#, #""}}"#),
        ]
        for shape in shapes {
            func message(_ count: Int) -> [UInt8] {
                Array(#"{"\#(kind)":"t",\#(shape.before)\#(String(repeating: "x", count: count))\#(shape.after)}"#.utf8)
            }
            var largest = 0
            for step in stride(from: 12, through: 0, by: -1).map({ 1 << $0 })
            where produced(message(largest + step)) != nil {
                largest += step
            }
            #expect(try enqueued(message(largest), message(largest), connection) != nil, "\(shape) \(largest)")
            #expect(try enqueued(message(largest + 1), message(largest + 1), connection) == nil, "\(shape) \(largest)")
        }
    }
}
