import Foundation
import Postgres

/// What the tests queue by hand, in transactions of their own.
extension Pipeline {
    /// Queues one message, as the functions for applications do: both rows, and word to the senders.
    ///
    /// - Parameters:
    ///   - connection: where; another one than the pipeline's for a transaction that stays open.
    ///   - wakes: whether senders are told.
    func enqueue(_ token: String, priority: Int = 5, on connection: Connection? = nil, wakes: Bool = true) throws {
        let connection = connection ?? database
        let payload = #"{"token":"\#(token)","notification":{"title":"Now"},"data":{"notification_id":"\#(token)"}}"#
        try connection.query(
            """
            WITH said AS (
                INSERT INTO todoke.notifications (app, notification_id)
                SELECT id, $2 FROM todoke.apps WHERE name = $1 RETURNING id, app, day
            ), queued AS (
                INSERT INTO todoke.messages (notification, app, day, priority)
                SELECT id, app, day, $3::smallint FROM said RETURNING id, day, notification
            )
            INSERT INTO todoke.payloads (id, notification, dedupe_key, day, target_kind, target, payload)
            SELECT id, notification, gen_random_uuid(), day, 'token', $2, $4::json FROM queued
            """, [.text(app), .text(token), .int(priority), .text(payload)])
        if wakes { try connection.query("SELECT pg_notify('todoke_due', $1)", [.text(app)]) }
    }

    /// Another connection to the database.
    func connect() throws -> Connection { try Connection(Conninfo(databaseURL, applicationName: "todoke tests")) }

    func waitUntilSent(_ token: String, within limit: TimeInterval = patience) throws {
        try wait(for: "\(token) is sent", within: limit) {
            try number(
                """
                SELECT count(*) FROM todoke.messages m JOIN todoke.payloads p USING (id, day)
                JOIN todoke.notifications n ON n.id = m.notification
                WHERE n.notification_id = '\(token)' AND p.notification = n.id AND m.state = 'sent'
                """) == 1
        }
    }

    /// Milliseconds since 1970 at which each of the targets arrived first, by the emulator's clock, which is this one.
    func arrivalTimes(_ prefix: String) throws -> [String: Double] {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        var times: [String: Double] = [:]
        let data = try Data(contentsOf: directory.appendingPathComponent("accepted.ndjson"))
        let mark = Data("\"token\":\"\(prefix)".utf8)
        for line in data.split(separator: UInt8(ascii: "\n")) where line.range(of: mark) != nil {
            guard let entry = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
                let token = (entry["message"] as? [String: Any])?["token"] as? String,
                let time = (entry["time"] as? String).flatMap({ formatter.date(from: $0) })
            else { throw Late(description: "accepted.ndjson has a line without a time") }
            if times[token] == nil { times[token] = time.timeIntervalSince1970 * 1000 }
        }
        return times
    }
}

/// Milliseconds that things took.
struct Latencies: CustomStringConvertible {
    private(set) var sorted: [Double]
    init(_ values: [Double]) { sorted = values.sorted() }

    /// The value that so much of all do not exceed, 0.99 for the 99th percentile.
    func percentile(_ part: Double) -> Double {
        sorted.isEmpty ? .infinity : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }

    var description: String {
        "\(sorted.count) samples, p50 \(percentile(0.5)), p99 \(percentile(0.99)), all \(sorted) ms"
    }
}

/// Milliseconds since 1970.
var millisecondsNow: Double { Date.now.timeIntervalSince1970 * 1000 }
