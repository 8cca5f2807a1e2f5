/// The walk over one message, with what it has seen so far.
struct MessageChecker {
    /// A step on the way from the message to where the walk is.
    enum Step {
        case field(SchemaID, Int)
        case key(JSONString)
        case element(Int)
    }

    static let mostIssues = 32

    var scanner = JSONScanner(refusesHugeNumbers: true)
    var report = MessageReport()
    var seen = MessageFacts()
    private var path: [Step] = []

    /// Seconds until the message expires; nil when it does not, or when nobody knows.
    let expiresIn: Int?

    init(expiresIn: Int? = nil) {
        self.expiresIn = expiresIn
        path.reserveCapacity(8)
    }

    /// Checks a whole text that holds one object of this type.
    mutating func run(_ id: SchemaID, _ bytes: Span<UInt8>) {
        if id != .request { path.append(.field(.request, 0)) }
        do throws(JSONError) {
            guard try scanner.nextKind(bytes) == .object else {
                let found = describeNext(bytes, isSecret: false)
                try scanner.skipValue(bytes)
                try scanner.finish(bytes)
                return fail("must be an object; found \(found)", bytes)
            }
            try nested(id, bytes)
            try scanner.finish(bytes)
            guard seen.message != nil else { return }
            path = [.field(.request, 0)]
            checkWhole(bytes)
        } catch {
            // What came before the broken place was checked; what comes after it cannot be.
            fail("is not acceptable JSON: \(error.inOneLine)", bytes)
        }
    }

    /// Checks an object and remembers where the message is.
    @discardableResult
    mutating func nested(_ id: SchemaID, _ bytes: Span<UInt8>) throws(JSONError) -> Outcome {
        let start = scanner.offset
        let before = scanner.compactLength
        try object(id, bytes)
        if id == .message { seen.message = start..<scanner.offset }
        return .set(length: scanner.compactLength - before)
    }

    // MARK: Objects

    /// Checks an object against its schema.
    mutating func object(_ id: SchemaID, _ bytes: Span<UInt8>) throws(JSONError) {
        let schema = Schema.all[id.rawValue]
        var members = try scanner.openObject(bytes, remembersKeys: schema.isOpen)
        var present: UInt64 = 0
        var set: UInt64 = 0
        var wrong: UInt64 = 0
        while let key = try scanner.nextKey(bytes, &members) {
            guard let index = schema.index(of: key, in: bytes) else {
                path.append(.key(key.string))
                if !schema.isOpen { fail(unknownName(in: schema), bytes) }
                try scanner.skipValue(bytes)
                path.removeLast()
                continue
            }
            path.append(.field(id, index))
            let bit: UInt64 = 1 << UInt64(index)
            if present & bit != 0 && !schema.isOpen {
                fail("is given twice (snake_case and lowerCamelCase name the same field)", bytes)
            }
            present |= bit
            switch try value(of: schema.fields[index], in: schema, bytes) {
            case .set(let length):
                set |= bit
                if let fact = schema.fields[index].fact { seen.note(fact, length) }
                seen.weigh(id, schema.fields[index], length)
            case .wrong: wrong |= bit
            case .unset: break
            }
            path.removeLast()
        }
        for index in schema.fields.indices {
            let bit: UInt64 = 1 << UInt64(index)
            if schema.required & ~(set | wrong) & bit != 0 { fail("is required", at: .field(id, index), bytes) }
            let needed = schema.needs[index]
            if needed >= 0 && set & bit != 0 && (set | wrong) & 1 << UInt64(needed) == 0 {
                fail("needs \(schema.fields[needed].name) beside it", at: .field(id, index), bytes)
            }
        }
    }

    private func unknownName(in schema: Schema) -> String {
        if schema.fields.isEmpty { return "is unknown: nothing is allowed here" }
        return "is unknown here; allowed are " + schema.fields.map(\.name).joined(separator: ", ")
    }

    /// Checks each element of a list with `element`, which is told nothing but has to consume it.
    mutating func list(
        _ bytes: Span<UInt8>, _ element: (inout MessageChecker) throws(JSONError) -> Void
    ) throws(JSONError) -> Bool {
        var isFirst = try scanner.openArray(bytes)
        var index = 0
        while try scanner.nextElement(bytes, &isFirst) {
            path.append(.element(index))
            try element(&self)
            path.removeLast()
            index += 1
        }
        return index > 0
    }

    /// Runs `body` with the path extended by a key of a map.
    mutating func within(_ key: JSONKey, _ body: (inout MessageChecker) -> Void) {
        path.append(.key(key.string))
        body(&self)
        path.removeLast()
    }

    // MARK: Reporting

    /// Reports an error at the current place, or one step further.
    mutating func fail(_ reason: String, at step: Step? = nil, _ bytes: Span<UInt8>) {
        guard report.errors.count < Self.mostIssues else { return }
        report.errors.append(PayloadIssue(field: describePath(step, bytes), reason: reason))
    }

    /// Reports a warning at the current place.
    mutating func warn(_ reason: String, _ bytes: Span<UInt8>) {
        guard report.warnings.count < Self.mostIssues else { return }
        report.warnings.append(PayloadIssue(field: describePath(nil, bytes), reason: reason))
    }

    /// Reports an error that spans several fields at the one that should change.
    mutating func fail(_ field: String, _ reason: String) {
        guard report.errors.count < Self.mostIssues else { return }
        report.errors.append(PayloadIssue(field: field, reason: reason))
    }

    /// Reports a warning that spans several fields at the one that should change.
    mutating func warn(_ field: String, _ reason: String) {
        guard report.warnings.count < Self.mostIssues else { return }
        report.warnings.append(PayloadIssue(field: field, reason: reason))
    }

    private func describePath(_ last: Step?, _ bytes: Span<UInt8>) -> String {
        var text = ""
        for step in path + (last.map { [$0] } ?? []) {
            switch step {
            case .field(let id, let index):
                text += (text.isEmpty ? "" : ".") + Schema.all[id.rawValue].fields[index].name
            case .key(let key): text += (text.isEmpty ? "" : ".") + Self.shortened(key.text(in: bytes), to: 40)
            case .element(let index): text += "[\(index)]"
            }
        }
        return text.isEmpty ? "request" : text
    }

    /// What stands at the scanner's place, short; the text of a secret string stays out.
    func describeNext(_ bytes: Span<UInt8>, isSecret: Bool) -> String {
        var copy = scanner
        do throws(JSONError) {
            switch try copy.nextKind(bytes) {
            case .object: return "an object"
            case .array: return "an array"
            case .null: return "null"
            case .boolean: return try copy.boolean(bytes) ? "true" : "false"
            case .number:
                let range = try copy.number(bytes)
                if isSecret || range.count > 24 { return "a number" }
                return bytes.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            case .string: return describe(try copy.string(bytes), bytes, isSecret: isSecret)
            }
        } catch {
            return "broken JSON"
        }
    }

    /// A string as found, short and on one line; a secret one by its length only.
    func describe(_ string: JSONString, _ bytes: Span<UInt8>, isSecret: Bool) -> String {
        if isSecret { return "a string of \(string.length) bytes" }
        return "\"" + Self.shortened(string.text(in: bytes), to: 32) + "\""
    }

    /// The beginning of a text without what ends a line or steers a terminal, in any reader's eyes.
    private static func shortened(_ text: String, to limit: Int) -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            if count == limit { return result + "…" }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
            count += 1
        }
        return result
    }
}
