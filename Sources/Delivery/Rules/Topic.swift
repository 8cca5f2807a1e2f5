/// Topic names and conditions over them.
enum Topic {
    /// Longest topic name, in bytes (TopicSubscription in the discovery document).
    static let longest = 900
    /// Most topics in one condition (Firebase's topic guide).
    static let mostInCondition = 5

    private static let deepestNesting = 32

    /// What is wrong with a bare topic name; nil if nothing is.
    static func fault(_ name: Span<UInt8>) -> String? {
        if name.count == 0 { return "must not be empty" }
        if ASCII.hasPrefix(name, "/topics/") { return "must be the bare name, without /topics/" }
        if name.count > longest { return "must have at most \(longest) characters, has \(name.count) bytes" }
        for index in 0..<name.count where !isNameByte(name[index]) {
            return "may only hold letters and digits of ASCII and - _ . ~ %"
        }
        return nil
    }

    /// The bytes of topic names and of analytics labels: `[a-zA-Z0-9-_.~%]`.
    static func isNameByte(_ byte: UInt8) -> Bool {
        if ASCII.isLetter(byte) || ASCII.isDigit(byte) { return true }
        return switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%"): true
        default: false
        }
    }

    /// What is wrong with a condition; nil if nothing is.
    static func conditionFault(_ condition: Span<UInt8>) -> String? {
        var reader = ConditionReader()
        return reader.fault(condition)
    }

    /// Reads `'a' in topics && ('b' in topics || !('c' in topics))` by recursive descent.
    private struct ConditionReader {
        var index = 0
        var topics = 0
        var depth = 0

        mutating func fault(_ text: Span<UInt8>) -> String? {
            skipSpace(text)
            if index == text.count { return "must not be empty" }
            if let fault = expression(text) { return fault }
            guard index == text.count else {
                return text[index] == UInt8(ascii: ")")
                    ? "has a ')' that closes nothing" : "must have && or || between its parts"
            }
            if topics > Topic.mostInCondition {
                return "may name at most \(Topic.mostInCondition) topics, names \(topics)"
            }
            return nil
        }

        private mutating func expression(_ text: Span<UInt8>) -> String? {
            while true {
                if let fault = term(text) { return fault }
                skipSpace(text)
                guard accept("&&", text) || accept("||", text) else { return nil }
                skipSpace(text)
            }
        }

        private mutating func term(_ text: Span<UInt8>) -> String? {
            while accept("!", text) { skipSpace(text) }
            if accept("(", text) {
                depth += 1
                if depth > Topic.deepestNesting { return "is nested too deep" }
                skipSpace(text)
                if let fault = expression(text) { return fault }
                depth -= 1
                return accept(")", text) ? nil : "has a '(' that is not closed"
            }
            return topic(text)
        }

        private mutating func topic(_ text: Span<UInt8>) -> String? {
            guard accept("'", text) else { return "must be made of parts like 'name' in topics" }
            let start = index
            while index < text.count && text[index] != UInt8(ascii: "'") { index += 1 }
            guard index < text.count else { return "has a quote that is not closed" }
            if let fault = Topic.fault(text.extracting(start..<index)) { return "names a topic that \(fault)" }
            index += 1
            topics += 1
            skipSpace(text)
            guard accept("in", text), skipSpace(text), accept("topics", text), isAtBoundary(text) else {
                return "must say in topics after each name"
            }
            return nil
        }

        private func isAtBoundary(_ text: Span<UInt8>) -> Bool {
            index == text.count || !Topic.isNameByte(text[index])
        }

        private mutating func accept(_ word: StaticString, _ text: Span<UInt8>) -> Bool {
            guard ASCII.hasPrefix(text.extracting(index..<text.count), word) else { return false }
            index += word.utf8CodeUnitCount
            return true
        }

        /// Whether there was any space.
        @discardableResult
        private mutating func skipSpace(_ text: Span<UInt8>) -> Bool {
            let start = index
            while index < text.count && (text[index] == 0x20 || text[index] == 0x09) { index += 1 }
            return index > start
        }
    }
}
