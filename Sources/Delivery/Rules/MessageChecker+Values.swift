extension MessageChecker {
    /// What became of a field's value.
    enum Outcome {
        /// It counts as given; `length` bytes as FCM counts sizes.
        case set(length: Int)
        /// `null` or an empty string: the protocol makes no difference between that and a missing field.
        case unset
        /// It has been reported.
        case wrong
    }

    /// Checks the value of a field and consumes it.
    mutating func value(
        of field: Field, in schema: Schema, _ bytes: Span<UInt8>
    ) throws(JSONError) -> Outcome {
        let kind = try scanner.nextKind(bytes)
        if kind == .null && !schema.isOpen {
            try scanner.null(bytes)
            return .unset
        }
        switch field.type {
        case .string, .text:
            return kind == .string ? try string(field, bytes) : try mismatch(field, "must be a string", bytes)
        case .boolean, .truth:
            guard kind == .boolean else { return try mismatch(field, "must be true or false", bytes) }
            return .set(length: try scanner.boolean(bytes) ? 4 : 5)
        case .int32:
            return try number(field, bytes, kind, allowsText: true, "must be a whole number of 32 bits") {
                $0 == $0.rounded(.towardZero) && $0 >= -2_147_483_648 && $0 <= 2_147_483_647
                    && (field.rule != .notNegative || $0 >= 0)
            }
        case .float:
            return try number(field, bytes, kind, allowsText: true, "must be a number") { _ in true }
        case .number:
            return try number(field, bytes, kind, allowsText: false, "must be a number") { _ in true }
        case .flag:
            return try flag(field, bytes, kind)
        case .duration:
            return try duration(field, bytes, kind)
        case .timestamp:
            guard kind == .string else { return try mismatch(field, Self.timestampForm, bytes) }
            let string = try scanner.string(bytes)
            guard string.withContents(in: bytes, { ProtoTime.isTimestamp($0) }) else {
                return wrong(Self.timestampForm, string, bytes)
            }
            return .set(length: string.length)
        case .enumeration(let id):
            return try enumeration(id, field, bytes, kind)
        case .strings, .texts:
            return try strings(field, bytes, kind)
        case .durations:
            return try durations(field, bytes, kind)
        case .stringMap(let rule):
            return try map(rule, schema.id, field, bytes, kind)
        case .message(let id), .structure(let id), .object(let id):
            return kind == .object ? try nested(id, bytes) : try mismatch(field, "must be an object", bytes)
        case .textOrObject(let id):
            if kind == .object { return try nested(id, bytes) }
            guard kind == .string else { return try mismatch(field, "must be a string or an object", bytes) }
            return try string(field, bytes)
        }
    }

    private static let timestampForm = "must be a time such as \"2014-10-02T15:01:23.045Z\""

    private mutating func string(_ field: Field, _ bytes: Span<UInt8>) throws(JSONError) -> Outcome {
        let string = try scanner.string(bytes)
        if field.rule == .webURL || field.rule == .secureURL { return webAddress(string, field, bytes) }
        if field.rule == .none { return string.length > 0 ? .set(length: string.length) : .unset }
        let rule = field.rule
        if case .target(let kind) = rule { seen.targets.append((kind, string)) }
        if let fault = string.withContents(in: bytes, { rule.fault($0) }) { return wrong(fault, string, field, bytes) }
        remark(rule, string, bytes)
        return string.length > 0 ? .set(length: string.length) : .unset
    }

    private mutating func webAddress(_ string: JSONString, _ field: Field, _ bytes: Span<UInt8>) -> Outcome {
        let finding = string.withContents(in: bytes) { WebAddress.inspect($0) }
        if field.rule == .secureURL && !finding.isSecure {
            return wrong("must be an absolute URL that starts with https://", string, bytes)
        }
        if let fault = finding.fault { return wrong(fault, string, bytes) }
        if !finding.isSecure { warn("is not https: iOS and newer Android refuse to load it by default", bytes) }
        if !finding.isASCII {
            warn("holds characters that should be percent-encoded: some devices ignore it", bytes)
        }
        return .set(length: string.length)
    }

    /// Warnings about text that is allowed.
    private mutating func remark(_ rule: TextRule, _ string: JSONString, _ bytes: Span<UInt8>) {
        switch rule {
        case .outputOnly: warn("is set by FCM in its answer and ignored here", bytes)
        case .target(.token), .target(.fid):
            let hasSpace = string.withContents(in: bytes) { text in
                for index in 0..<text.count where text[index] <= 0x20 { return true }
                return false
            }
            if hasSpace { warn("holds white space, which no token does", bytes) }
        default: break
        }
    }

    private mutating func flag(
        _ field: Field, _ bytes: Span<UInt8>, _ kind: JSONScanner.Kind
    ) throws(JSONError) -> Outcome {
        let allowed = "must be the number 1, or left out"
        guard kind == .number else { return try mismatch(field, allowed, bytes) }
        let range = try scanner.number(bytes)
        let text = bytes.extracting(range)
        if ASCII.equal(text, "1") { return .set(length: 1) }
        if ASCII.equal(text, "0") { return .unset }
        let found = text.withUnsafeBufferPointer { String(decoding: $0.prefix(24), as: UTF8.self) }
        fail("\(allowed); found \(found)", bytes)
        return .wrong
    }

    /// Reads a number; FCM takes a number written as a string too, and templates make such strings.
    private mutating func number(
        _ field: Field, _ bytes: Span<UInt8>, _ kind: JSONScanner.Kind, allowsText: Bool, _ allowed: String,
        _ accepts: (Double) -> Bool
    ) throws(JSONError) -> Outcome {
        let form =
            switch field.rule {
            case .notNegative: allowed + ", not negative"
            case .fraction: "must be a number from 0 to 1"
            default: allowed
            }
        guard kind == .number || (allowsText && kind == .string) else { return try mismatch(field, form, bytes) }
        let found = describeNext(bytes, isSecret: false)
        let range: Range<Int>
        if kind == .number {
            range = try scanner.number(bytes)
        } else {
            let string = try scanner.string(bytes)
            range = string.start..<string.end
        }
        let text = bytes.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        let isPlain = text.utf8.allSatisfy { ASCII.isDigit($0) || "+-.eE".utf8.contains($0) }
        guard isPlain, let value = Double(text), value.isFinite, accepts(value),
            field.rule != .fraction || (0...1).contains(value)
        else {
            fail("\(form); found \(found)", bytes)
            return .wrong
        }
        return .set(length: range.count)
    }

    private mutating func duration(
        _ field: Field, _ bytes: Span<UInt8>, _ kind: JSONScanner.Kind
    ) throws(JSONError) -> Outcome {
        let allowed =
            field.rule == .timeToLive
            ? "must be seconds such as \"3600s\" or \"3.5s\", from 0s to \(TextRule.longestLife)s"
            : "must be seconds such as \"0.25s\", not negative"
        guard kind == .string else { return try mismatch(field, allowed, bytes) }
        let string = try scanner.string(bytes)
        guard let duration = string.withContents(in: bytes, { ProtoTime.duration($0) }), !duration.isNegative,
            duration.seconds <= ProtoTime.mostSeconds
        else { return wrong(allowed, string, bytes) }
        if field.rule == .timeToLive {
            let rest = duration.hasFraction ? 1 : 0
            guard duration.seconds + rest <= TextRule.longestLife else { return wrong(allowed, string, bytes) }
            // The sender replaces the digits in place when less life is left.
            guard !string.isEscaped else {
                return wrong("must be written without JSON escapes", string, bytes)
            }
            report.androidTTL = (string.start, duration.wholeDigits)
            seen.timeToLive = duration.seconds
        }
        return .set(length: string.length)
    }

    private mutating func enumeration(
        _ id: EnumerationID, _ field: Field, _ bytes: Span<UInt8>, _ kind: JSONScanner.Kind
    ) throws(JSONError) -> Outcome {
        // proto3's JSON takes the numbers of enumerations too, but which number means what is not published.
        guard kind == .string else { return try mismatch(field, Self.form(of: id), bytes) }
        let string = try scanner.string(bytes)
        let isKnown = string.withContents(in: bytes) { text in
            for name in id.staticNames where ASCII.equal(text, name) { return true }
            for name in id.staticOtherNames where ASCII.equal(text, name) { return true }
            return false
        }
        return isKnown ? .set(length: string.length) : wrong(Self.form(of: id), string, bytes)
    }

    private static func form(of id: EnumerationID) -> String {
        "must be one of " + (id.names + id.otherNames).joined(separator: ", ")
    }

    private mutating func strings(
        _ field: Field, _ bytes: Span<UInt8>, _ kind: JSONScanner.Kind
    ) throws(JSONError) -> Outcome {
        guard kind == .array else { return try mismatch(field, "must be a list of strings", bytes) }
        let before = scanner.compactLength
        let errors = report.errors.count
        let hasElements = try list(bytes) { (checker) throws(JSONError) in
            guard try checker.scanner.nextKind(bytes) == .string else {
                return _ = try checker.mismatch(field, "must be a string", bytes)
            }
            _ = try checker.scanner.string(bytes)
        }
        if report.errors.count > errors { return .wrong }
        return hasElements ? .set(length: scanner.compactLength - before) : .unset
    }

    private mutating func durations(
        _ field: Field, _ bytes: Span<UInt8>, _ kind: JSONScanner.Kind
    ) throws(JSONError) -> Outcome {
        guard kind == .array else { return try mismatch(field, "must be a list of durations", bytes) }
        let before = scanner.compactLength
        let hasElements = try list(bytes) { (checker) throws(JSONError) in
            let kind = try checker.scanner.nextKind(bytes)
            _ = try checker.duration(field, bytes, kind)
        }
        return hasElements ? .set(length: scanner.compactLength - before) : .unset
    }

    // MARK: Reporting values

    /// Reports a value of the wrong kind and consumes it.
    mutating func mismatch(
        _ field: Field, _ allowed: String, _ bytes: Span<UInt8>
    ) throws(JSONError) -> Outcome {
        if case .target = field.rule { seen.hasMistypedTarget = true }
        fail("\(allowed); found \(describeNext(bytes, isSecret: field.isSecret))", bytes)
        try scanner.skipValue(bytes)
        return .wrong
    }

    mutating func wrong(_ allowed: String, _ string: JSONString, _ bytes: Span<UInt8>) -> Outcome {
        fail("\(allowed); found \(describe(string, bytes, isSecret: false))", bytes)
        return .wrong
    }

    private mutating func wrong(
        _ allowed: String, _ string: JSONString, _ field: Field, _ bytes: Span<UInt8>
    ) -> Outcome {
        fail("\(allowed); found \(describe(string, bytes, isSecret: field.isSecret))", bytes)
        return .wrong
    }
}
