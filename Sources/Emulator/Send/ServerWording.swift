import Delivery

/// Puts what the rules found into the words of the real server, where those are known.
struct ServerWording {
    typealias Violation = (field: String, description: String)

    /// The message, for what a report leaves out; nil when it cannot be read.
    private let message: JSONValue?

    init(message: Span<UInt8>) { self.message = try? JSONValue.parse(message) }

    /// The violation that stands for one issue.
    func violation(_ issue: PayloadIssue) -> Violation {
        let (parent, name) = Self.split(issue.field)
        let (allowed, found) = Self.parts(of: issue.reason)
        if issue.reason.hasPrefix("is not acceptable JSON: ") {
            return ("", "Invalid JSON payload received. Expected JSON: \(issue.reason.dropFirst(24)).")
        }
        if allowed.contains(" twice") {
            // Not the field itself: a violation of message.token would say that the token is dead.
            return (parent, "Invalid JSON payload received. Field '\(name)' is set twice at '\(parent)'.")
        }
        if allowed.hasPrefix("is unknown") {
            return (
                parent, "Invalid JSON payload received. Unknown name \"\(name)\" at '\(parent)': Cannot find field."
            )
        }
        if allowed.hasPrefix("is a reserved key") || allowed.hasPrefix("is reserved:") {
            return (issue.field, "Invalid data payload key: \(Self.mapEntry(issue.field)?.key ?? name)")
        }
        if allowed.hasPrefix("must have exactly one of token") { return Self.target(issue) }
        if allowed.contains("must take at most") { return Self.size(issue.field) }
        if let entry = dataEntry(issue.field), allowed == "must be a string" {
            return Self.invalid("\(entry.map)[\(entry.index)].value", "TYPE_STRING", entry.value)
        }
        if let found, let type = Self.type(allowed, name) { return Self.invalid(issue.field, type, found) }
        return (issue.field, "Invalid value at '\(issue.field)': \(issue.reason)")
    }

    private static func invalid(_ field: String, _ type: String, _ found: String) -> Violation {
        (field, "Invalid value at '\(field)' (\(type)), \(found)")
    }

    private static func target(_ issue: PayloadIssue) -> Violation {
        let last = issue.reason.split(separator: " ").last ?? ""
        if last == "none" { return ("message", "Recipient of the message is not set.") }
        return (
            "message", "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set '\(last)'"
        )
    }

    private static func size(_ field: String) -> Violation {
        switch field {
        case "message.android", "message.android_v2": (field, "Android message is too big")
        case "message.apns", "message.apns.payload": (field, "iOS message is too big")
        default: (field, "Message is too large. The maximum is 4K (4096 bytes).")
        }
    }

    /// The type in the parentheses of the server's text; nil where it says something else.
    private static func type(_ allowed: String, _ name: String) -> String? {
        let enumeration = "type.googleapis.com/google.firebase.fcm.v1."
        switch allowed {
        case "must be a string": return "TYPE_STRING"
        case "must be true or false": return "TYPE_BOOL"
        case _ where allowed.hasPrefix("must be a whole number of 32 bits"): return "TYPE_INT32"
        case _ where allowed.hasPrefix("must be a number"): return "TYPE_FLOAT"
        case _ where allowed.hasPrefix("must be seconds"): return "type.googleapis.com/google.protobuf.Duration"
        case _ where allowed.hasPrefix("must be a time"): return "type.googleapis.com/google.protobuf.Timestamp"
        case _ where allowed.hasPrefix("must be one of "):
            switch name {
            case "priority": return enumeration + "AndroidMessagePriority"
            case "notification_priority": return enumeration + "AndroidNotification.NotificationPriority"
            case "visibility": return enumeration + "AndroidNotification.Visibility"
            case "proxy": return enumeration + "AndroidNotification.Proxy"
            default: return nil
            }
        default: return nil
        }
    }

    /// The place of a data entry, which the server counts instead of naming its key.
    private func dataEntry(_ field: String) -> (map: String, index: Int, value: String)? {
        guard let (map, key) = Self.mapEntry(field) else { return nil }
        let members = map.split(separator: ".").reduce(message) { $0?[String($1)] }?.objectValue ?? []
        guard let index = members.firstIndex(where: { $0.key == key }) else { return nil }
        return ("message.\(map)", index, Self.text(members[index].value))
    }

    /// The map below the message that a field is in, and its key, which may have dots in it.
    private static func mapEntry(_ field: String) -> (map: String, key: String)? {
        let maps = ["data", "android.data", "android_v2.data", "webpush.data", "apns.headers", "webpush.headers"]
        for map in maps where field.hasPrefix("message.\(map).") {
            return (map, String(field.dropFirst("message.\(map).".count)))
        }
        return nil
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .number(let text): text
        case .string(let text): "\"\(text)\""
        case .array: "Starting an array on a scalar field"
        case .object: "Starting an object on a scalar field"
        }
    }

    private static func split(_ field: String) -> (parent: String, name: String) {
        guard let dot = field.lastIndex(of: ".") else { return ("", field) }
        return (String(field[..<dot]), String(field[field.index(after: dot)...]))
    }

    /// What is allowed and what was found instead, as the rules write it: `must be a string; found 12`.
    private static func parts(of reason: String) -> (allowed: String, found: String?) {
        guard let range = reason.firstRange(of: "; found ") else { return (reason, nil) }
        return (String(reason[..<range.lowerBound]), String(reason[range.upperBound...]))
    }
}
