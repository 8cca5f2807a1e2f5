import FoundationEssentials

/// One line an event on standard error: a fixed message with fields beside it, as logfmt or as JSON.
///
/// Never pass a secret or a whole device token.
package struct Log: Sendable {
    package enum Format: String, Sendable { case logfmt, json }
    package enum Level: Int, Sendable {
        case debug, info, warning, error

        package init?(name: String) {
            switch name {
            case "debug": self = .debug
            case "info": self = .info
            case "warning": self = .warning
            case "error": self = .error
            default: return nil
            }
        }
    }

    private let format: Format
    private let threshold: Level
    private let stream: StandardStream

    package init(format: Format = .logfmt, threshold: Level = .info, stream: StandardStream = .error) {
        self.format = format
        self.threshold = threshold
        self.stream = stream
    }

    package func debug(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.debug, message, fields)
    }
    package func info(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.info, message, fields)
    }
    package func warning(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.warning, message, fields)
    }
    package func error(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.error, message, fields)
    }

    package func write(_ level: Level, _ message: String, _ fields: KeyValuePairs<String, String>) {
        write(level, message, fields.map { ($0.key, $0.value) })
    }

    package func write(_ level: Level, _ message: String, _ fields: [(key: String, value: String)]) {
        guard writes(level) else { return }
        stream.writeLine(line(level, message, fields, time: Date.now))
    }

    /// Whether lines of this level are written at all.
    package func writes(_ level: Level) -> Bool { level.rawValue >= threshold.rawValue }

    func line(_ level: Level, _ message: String, _ fields: [(key: String, value: String)], time: Date) -> String {
        let stamp = time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        switch format {
        case .logfmt:
            var text = "time=\(stamp) level=\(level) msg=\(Self.quoted(message, always: true))"
            for (key, value) in fields { text += " \(key)=\(Self.quoted(value, always: false))" }
            return text
        case .json:
            var text = "{\"time\":\"\(stamp)\",\"level\":\"\(level)\",\"msg\":\(Self.quoted(message, always: true))"
            for (key, value) in fields {
                text += ",\(Self.quoted(key, always: true)):\(Self.quoted(value, always: true))"
            }
            return text + "}"
        }
    }

    /// JSON's quoting, which logfmt readers understand too.
    static func quoted(_ text: String, always: Bool) -> String {
        let plain = text.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0.value != 0x7F && $0 != "\"" && $0 != "=" && $0 != "\\"
        }
        if plain && !always && !text.isEmpty { return text }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if scalar.value < 0x20 {
                    let hex = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }
}
