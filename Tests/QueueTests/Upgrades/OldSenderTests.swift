import Foundation
import Postgres
import TestSupport
import Testing

@testable import Queue

/// Migrations come before programs: a sender of the release before goes on working with the new schema.
///
/// Its statements are kept as they were; a release that changes statements keeps those of the one before it here.
@Suite(.migratedDatabase) struct OldSenderTests {
    private let fixture: QueueFixture
    private let statements: [String: String]
    private let sender: Int

    init() throws {
        fixture = try QueueFixture()
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "sender-of-6.sql")
        var found: [String: String] = [:]
        for section in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n\n-- ").dropFirst() {
            let lines = section.split(separator: "\n", maxSplits: 1)
            found[String(lines[0])] = String(try #require(lines.last))
        }
        let register = try #require(found["register"])
        let id = try fixture.connection.query(
            register, [.text("h"), .int(1), .text("0"), .array([Optional(fixture.name)])]
        ).int(0, 0)
        sender = try #require(id)
        statements = found
    }

    private func perform(_ name: String, _ parameters: [Value] = []) throws -> QueryResult {
        let text = try #require(statements[name], "\(name)")
            .replacing("'2001-01-01'", with: "'\(fixture.day)'").replacing("1111", with: "\(fixture.app)")
            .replacing("2222", with: "\(sender)")
        return try fixture.connection.query(text, parameters)
    }

    private func claimed(_ count: Int) throws -> [Int] {
        try fixture.connection.script(
            """
            WITH ids AS (SELECT nextval('todoke.message_id_seq') AS id, g FROM generate_series(1, \(count)) AS g),
            m AS (INSERT INTO todoke.messages (id, day, notification, app)
                SELECT id, \(fixture.day.sql), \(fixture.notification), \(fixture.app) FROM ids)
            INSERT INTO todoke.payloads (id, day, notification, target_kind, target, dedupe_key, payload)
            SELECT id, \(fixture.day.sql), \(fixture.notification), 'token', 't' || g, md5(g::text)::uuid, '{}' FROM ids;
            """)
        let rows = try perform("claim")
        #expect(rows.columnCount == 13)
        return (0..<rows.rowCount).compactMap { rows.int($0, 0) }.sorted()
    }

    /// The ten arrays of a result that is not simply sent.
    private func result(_ id: Int, _ state: String, _ status: Int, _ code: String, _ outcome: String, delay: Int?)
        -> [Value]
    {
        let texts: [String?] = [
            "\(id)", "1", state, "\(status)", code, nil, outcome, "d", delay.map(String.init), delay == nil ? "0" : "1",
        ]
        return texts.map { .array([$0]) }
    }

    @Test func everyStatementOfItWorks() throws {
        #expect(try perform("read only").bool(0, 0) == false)
        #expect(try perform("apps", [.array([Optional(fixture.name)]), .int(sender)]).rowCount == 1)
        #expect(try perform("days").rowCount > 1)
        let ids = try claimed(4)
        try #require(ids.count == 4)
        #expect(try perform("claim with a floor").rowCount == 0)
        #expect(try perform("due").rowCount == 0)
        #expect(try perform("unfinished").bool(0, 0) == true)

        let sent: [Value] = [.array(["\(ids[0])"]), .array(["1"]), .array(["m"])]
        let failed = result(ids[1], "failed", 404, "UNREGISTERED", "token_invalid", delay: nil)
        let returned = result(ids[2], "pending", 503, "UNAVAILABLE", "retry", delay: 60_000)
        for (name, parameters) in [("sent", sent), ("failed", failed), ("returned", returned)] {
            #expect(try perform("record \(name)", parameters).int(0, 0) == 1, "\(name)")
            #expect(try perform("verify \(name)", parameters).int(0, 0) == 1, "\(name)")
        }
        try fixture.connection.query(
            "UPDATE todoke.messages SET lease_until = now() - interval '1 s' WHERE id = $1::bigint", [.int(ids[3])])
        #expect(try perform("rescue").int(0, 0) == 1)
        for name in ["house", "partitions", "old senders"] { _ = try perform(name) }
        let vitals: [Value] = [.int(sender), .int(0), .int(1), .text("s"), .text("1")]
        #expect(try perform("heartbeat", vitals).rowCount == 1)
        _ = try perform("farewell", vitals)
        let states = try fixture.connection.query(
            "SELECT string_agg(state::text, ' ' ORDER BY id) FROM todoke.messages WHERE app = $1::int",
            [.int(fixture.app)])
        #expect(states.string(0, 0) == "sent failed pending pending")
    }
}
