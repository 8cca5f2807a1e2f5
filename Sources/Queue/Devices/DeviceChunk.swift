/// Devices on their way into the registry: rows for COPY, gathered until there are enough of them.
package struct DeviceChunk: Sendable {
    /// Rows a chunk has at most.
    package static let most = 10_000
    /// Bytes after which it is full, whatever the number of rows.
    private static let fullBytes = 8 << 20

    /// One row; what is `nil` is not known.
    ///
    /// Times are microseconds since 1970.
    package struct Device: Sendable {
        package var line = 0
        package var app = ""
        package var token = ""
        package var userID: String?
        package var platform: String?
        package var locale: String?
        package var timeZone: String?
        package var channels: [String]?
        package var appVersion: String?
        package var installationID: String?
        package var allowsNotifications: Bool?
        package var environment: String?
        package var registeredAt: Int?
        package var lastSeenAt: Int?
        package var invalidatedAt: Int?
        package var invalidReason: String?

        package init() {}
    }

    package private(set) var rows = 0
    private(set) var text: [UInt8] = []

    package init() {}

    package var isFull: Bool { rows >= Self.most || text.count >= Self.fullBytes }

    /// Empties it and keeps its memory.
    package mutating func reset() {
        rows = 0
        text.removeAll(keepingCapacity: true)
    }

    /// Adds a row in COPY's text format.
    ///
    /// Texts have no NUL.
    package mutating func append(_ device: Device) {
        rows += 1
        text.append(contentsOf: String(device.line).utf8)
        for field in [
            device.app, device.token, device.userID, device.platform, device.locale, device.timeZone,
            device.channels.map(Self.literal), device.appVersion, device.installationID,
            device.allowsNotifications.map { $0 ? "t" : "f" }, device.environment,
            device.registeredAt.map { String($0) },
            device.lastSeenAt.map { String($0) }, device.invalidatedAt.map { String($0) }, device.invalidReason,
        ] { append(field) }
        text.append(UInt8(ascii: "\n"))
    }

    private mutating func append(_ field: String?) {
        text.append(UInt8(ascii: "\t"))
        guard let field else {
            text.append(contentsOf: #"\N"#.utf8)
            return
        }
        for byte in field.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): text.append(contentsOf: #"\\"#.utf8)
            case UInt8(ascii: "\n"): text.append(contentsOf: #"\n"#.utf8)
            case UInt8(ascii: "\r"): text.append(contentsOf: #"\r"#.utf8)
            case UInt8(ascii: "\t"): text.append(contentsOf: #"\t"#.utf8)
            default: text.append(byte)
            }
        }
    }

    /// An array as Postgres writes it.
    private static func literal(_ names: [String]) -> String {
        let quoted = names.map { name in
            "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        return "{" + quoted.joined(separator: ",") + "}"
    }
}
