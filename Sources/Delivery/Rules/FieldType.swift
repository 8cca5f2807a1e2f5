/// What a field may hold.
package enum FieldType: Equatable, Sendable {
    // Types of the published schema, in proto3's JSON form: `null` means unset.
    case string
    case boolean
    case int32
    case float
    case duration
    case timestamp
    case enumeration(EnumerationID)
    case strings
    case durations
    case stringMap(MapRule)
    case message(SchemaID)
    /// Free JSON (`google.protobuf.Struct`) whose known keys are described by a schema of their own.
    case structure(SchemaID)

    // Types of keys inside free JSON, which reach the device as they are: `null` is not left out there.
    case text
    case number
    /// A number that stands for yes, 1, or no, 0.
    case flag
    case truth
    case object(SchemaID)
    case textOrObject(SchemaID)
    case texts
}

/// A list of allowed names.
package enum EnumerationID: Sendable {
    case androidPriority, notificationPriority, visibility, proxy
    case webDirection, interruptionLevel, liveActivityEvent

    /// The names of the published schema.
    package var names: [String] { staticNames.map(\.description) }

    var staticNames: [StaticString] {
        switch self {
        case .androidPriority: ["NORMAL", "HIGH"]
        case .notificationPriority:
            [
                "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
                "PRIORITY_MAX",
            ]
        case .visibility: ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]
        case .proxy: ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]
        case .webDirection: ["auto", "ltr", "rtl"]
        case .interruptionLevel: ["passive", "active", "time-sensitive", "critical"]
        case .liveActivityEvent: ["start", "update", "end"]
        }
    }

    /// Other spellings that the documentation gives for the same values.
    package var otherNames: [String] { staticOtherNames.map(\.description) }

    var staticOtherNames: [StaticString] { self == .androidPriority ? ["normal", "high"] : [] }
}

/// What the keys and values of a string map must satisfy.
package enum MapRule: Sendable { case data, apnsHeaders, webpushHeaders }

/// What the text of a field must satisfy beyond its type.
package enum TextRule: Equatable, Sendable {
    case none
    case notEmpty
    case target(TargetKind)
    case analyticsLabel
    case colour
    case webURL
    case secureURL
    case timeToLive
    case notNegative
    case fraction
    case outputOnly
}
