/// What the headers that APNs and web push read may hold.
enum PushHeader {
    /// Push types and what a topic of each ends with (Apple, "Sending notification requests to APNs").
    static let pushTypes: [(name: StaticString, topicSuffix: StaticString)] = [
        ("alert", ""), ("background", ""), ("voip", ".voip"), ("pushtotalk", ".voip-ptt"),
        ("complication", ".complication"), ("fileprovider", ".pushkit.fileprovider"), ("location", ".location-query"),
        ("liveactivity", ".push-type.liveactivity"), ("widgets", ".push-type.widgets"),
        ("controls", ".push-type.controls"), ("mdm", ""),
    ]
    static let priorities: [StaticString] = ["10", "5", "1"]
    static let urgencies: [StaticString] = ["very-low", "low", "normal", "high"]
    static let longestCollapseID = 64

    /// The APNs headers with rules of their own.
    enum APNs: UInt8, CaseIterable {
        case priority, expiration, collapseID, pushType, id, topic

        private var name: StaticString {
            switch self {
            case .priority: "apns-priority"
            case .expiration: "apns-expiration"
            case .collapseID: "apns-collapse-id"
            case .pushType: "apns-push-type"
            case .id: "apns-id"
            case .topic: "apns-topic"
            }
        }

        /// One bit for each header.
        var bit: UInt8 { 1 << rawValue }

        /// The header of this name in any case, as HTTP reads names.
        init?(_ name: Span<UInt8>) {
            guard name.count >= 7, name[4] == UInt8(ascii: "-") else { return nil }
            for header in Self.allCases where ASCII.equalIgnoringCase(name, header.name) {
                self = header
                return
            }
            return nil
        }

        func fault(_ value: Span<UInt8>) -> String? {
            switch self {
            case .priority:
                PushHeader.isOne(of: PushHeader.priorities, value) ? nil : "must be \"10\", \"5\" or \"1\""
            case .expiration:
                ASCII.saturatingInteger(value) == nil || value.count > 18 ? "must be UNIX seconds, or \"0\"" : nil
            case .collapseID:
                value.count > PushHeader.longestCollapseID
                    ? "must have at most \(PushHeader.longestCollapseID) bytes, has \(value.count)" : nil
            case .pushType:
                PushHeader.pushType(value) == nil
                    ? "must be one of " + PushHeader.pushTypes.map(\.name.description).joined(separator: ", ") : nil
            case .id: PushHeader.isUUID(value) ? nil : "must be a UUID in lower case, 8-4-4-4-12"
            case .topic: value.count == 0 ? "must not be empty" : nil
            }
        }
    }

    /// What is wrong with a web push header (RFC 8030); nil for headers without rules here.
    static func webFault(_ name: Span<UInt8>, _ value: Span<UInt8>) -> String? {
        if ASCII.equalIgnoringCase(name, "ttl") {
            return ASCII.saturatingInteger(value) == nil ? "must be a number of seconds in digits" : nil
        }
        if ASCII.equalIgnoringCase(name, "urgency") {
            return isOne(of: urgencies, value)
                ? nil : "must be one of " + urgencies.map(\.description).joined(separator: ", ")
        }
        return nil
    }

    /// The index of a push type; nil for an unknown one.
    static func pushType(_ value: Span<UInt8>) -> Int? {
        for index in pushTypes.indices where ASCII.equal(value, pushTypes[index].name) { return index }
        return nil
    }

    static func isOne(of names: [StaticString], _ value: Span<UInt8>) -> Bool {
        for name in names where ASCII.equal(value, name) { return true }
        return false
    }

    private static func isUUID(_ text: Span<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        for index in 0..<36 {
            let byte = text[index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                if byte != UInt8(ascii: "-") { return false }
            } else if ASCII.hexValue(byte) == nil || byte &- 0x41 < 26 {
                return false
            }
        }
        return true
    }
}
