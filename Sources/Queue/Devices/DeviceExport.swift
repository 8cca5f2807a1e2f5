package import Postgres

/// The registry as rows that ``DeviceImport`` takes.
package enum DeviceExport {
    /// The columns of a file of devices; the last two are only there where dead ones are.
    package static let columns = [
        "app", "token", "user_id", "platform", "locale", "time_zone", "channels", "app_version", "installation_id",
        "allows_notifications", "environment", "registered_at", "last_seen_at", "invalidated_at", "invalid_reason",
    ]

    /// The settings of the transaction that the statement reads: COPY takes no parameters.
    package static func settings(app: String?) -> [(name: String, value: Value)] {
        [("todoke.export_app", .text(app ?? ""))]
    }

    /// COPY in CSV with a header, or one JSON object a line.
    package static func statement(isJSON: Bool, includesInvalid: Bool) -> String {
        let names = includesInvalid ? columns : columns.dropLast(2)
        let values = names.map { name in
            switch name {
            case "app": "a.name AS app"
            case "environment": "a.environment"
            // A list with one blank behind each comma is JSON too.
            case "channels": isJSON ? "d.channels" : "to_json(d.channels)::text AS channels"
            case "registered_at", "last_seen_at", "invalidated_at":
                "to_char(d.\(name) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') AS \(name)"
            default: "d.\(name)"
            }
        }
        let rows = """
            SELECT \(values.joined(separator: ", "))
            FROM todoke.devices AS d JOIN todoke.apps AS a ON a.id = d.app
            WHERE (current_setting('todoke.export_app') = '' OR a.name = current_setting('todoke.export_app'))\
            \(includesInvalid ? "" : " AND d.invalidated_at IS NULL")
            ORDER BY d.id
            """
        guard isJSON else { return "COPY (\n\(rows)\n) TO STDOUT (FORMAT csv, HEADER)" }
        // CSV with marks that JSON text cannot have, since it escapes them: each line comes out as it is.
        return """
            COPY (SELECT row_to_json(r)::text FROM (
            \(rows)
            ) AS r) TO STDOUT (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')
            """
    }
}
