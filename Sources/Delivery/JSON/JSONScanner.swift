/// Walks over JSON text once, from left to right, and checks it as it goes; it builds nothing.
///
/// The text is passed to each call rather than stored, because a `Span` cannot be kept in an ordinary struct. A scanner
/// belongs to one text: calls with another one give wrong answers, never unsafe ones.
package struct JSONScanner {
    /// What a value starts like.
    package enum Kind: Sendable { case object, array, string, number, boolean, null }

    /// How deep objects and arrays may nest: protobuf's own limit for JSON.
    package static let depthLimit = 100

    /// Where the scanner stands.
    package private(set) var offset = 0
    /// How many bytes everything consumed so far takes when it is written without white space and needless escapes.
    package private(set) var compactLength = 0

    private var depth = 0
    private var keys: [JSONKey] = []

    /// Whether numbers that no double can hold are refused, as FCM refuses them.
    private let refusesHugeNumbers: Bool

    package init(refusesHugeNumbers: Bool = false) {
        self.refusesHugeNumbers = refusesHugeNumbers
        keys.reserveCapacity(Self.pairwiseLimit)
    }

    /// The kind of the value that starts here, after any white space.
    package mutating func nextKind(_ bytes: Span<UInt8>) throws(JSONError) -> Kind {
        skipWhiteSpace(bytes)
        guard offset < bytes.count else { throw failure(offset == 0 ? .emptyInput : .endOfInput, bytes) }
        let byte = bytes[offset]
        switch byte {
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"): return .number
        case 0: throw failure(.nul, bytes)
        default:
            if ASCII.isDigit(byte) { return .number }
            throw failure(.expectedValue, bytes)
        }
    }

    /// Checks that nothing but white space is left.
    package mutating func finish(_ bytes: Span<UInt8>) throws(JSONError) {
        skipWhiteSpace(bytes)
        guard offset == bytes.count else { throw failure(.trailingBytes, bytes) }
    }

    /// Consumes any value, checking all of it.
    package mutating func skipValue(_ bytes: Span<UInt8>) throws(JSONError) {
        switch try nextKind(bytes) {
        case .string: _ = try string(bytes)
        case .number: _ = try number(bytes)
        case .boolean: _ = try boolean(bytes)
        case .null: try null(bytes)
        case .object:
            var members = try openObject(bytes)
            while try nextKey(bytes, &members) != nil { try skipValue(bytes) }
        case .array:
            var isFirst = try openArray(bytes)
            while try nextElement(bytes, &isFirst) { try skipValue(bytes) }
        }
    }

    // MARK: Objects and arrays

    /// Where an object being walked stands; made by `openObject`, passed to `nextKey`.
    package struct Members: Sendable {
        fileprivate var isFirst = true
        /// Where this object's keys start among the remembered ones; nil when the caller notices repeated keys itself.
        fileprivate let firstKey: Int?
    }

    /// Consumes the `{`.
    ///
    /// With `remembersKeys` false the caller has to notice repeated keys itself.
    package mutating func openObject(
        _ bytes: Span<UInt8>, remembersKeys: Bool = true
    ) throws(JSONError) -> Members {
        try descend(bytes)
        return Members(firstKey: remembersKeys ? keys.count : nil)
    }

    /// Consumes the next key and its colon, or the `}` and returns nil.
    package mutating func nextKey(_ bytes: Span<UInt8>, _ members: inout Members) throws(JSONError) -> JSONKey? {
        skipWhiteSpace(bytes)
        guard offset < bytes.count else { throw failure(.endOfInput, bytes) }
        if bytes[offset] == UInt8(ascii: "}") {
            ascend()
            if let first = members.firstKey { try forgetKeys(from: first, bytes) }
            return nil
        }
        if members.isFirst {
            members.isFirst = false
        } else {
            guard bytes[offset] == UInt8(ascii: ",") else { throw failure(.expectedCommaOrBrace, bytes) }
            consume(1)
            skipWhiteSpace(bytes)
        }
        guard offset < bytes.count else { throw failure(.endOfInput, bytes) }
        guard bytes[offset] == UInt8(ascii: "\"") else { throw failure(.expectedKey, bytes) }
        let key = JSONKey(try string(bytes), in: bytes)
        if let first = members.firstKey { try remember(key, from: first, bytes) }
        skipWhiteSpace(bytes)
        guard offset < bytes.count else { throw failure(.endOfInput, bytes) }
        guard bytes[offset] == UInt8(ascii: ":") else { throw failure(.expectedColon, bytes) }
        consume(1)
        return key
    }

    /// Consumes the `[`; the returned mark is passed to `nextElement`.
    package mutating func openArray(_ bytes: Span<UInt8>) throws(JSONError) -> Bool {
        try descend(bytes)
        return true
    }

    /// Whether another element starts here; consumes the comma before it, or the `]`.
    package mutating func nextElement(_ bytes: Span<UInt8>, _ isFirst: inout Bool) throws(JSONError) -> Bool {
        skipWhiteSpace(bytes)
        guard offset < bytes.count else { throw failure(.endOfInput, bytes) }
        if bytes[offset] == UInt8(ascii: "]") {
            ascend()
            return false
        }
        if isFirst {
            isFirst = false
        } else {
            guard bytes[offset] == UInt8(ascii: ",") else { throw failure(.expectedCommaOrBracket, bytes) }
            consume(1)
        }
        return true
    }

    private mutating func descend(_ bytes: Span<UInt8>) throws(JSONError) {
        guard depth < Self.depthLimit else { throw failure(.tooDeep, bytes) }
        depth += 1
        consume(1)
    }

    private mutating func ascend() {
        depth -= 1
        consume(1)
    }

    // MARK: Repeated keys

    /// Up to this many keys are compared one by one as they come; more are sorted when the object ends.
    private static let pairwiseLimit = 16

    private mutating func remember(_ key: JSONKey, from first: Int, _ bytes: Span<UInt8>) throws(JSONError) {
        if keys.count - first < Self.pairwiseLimit {
            for index in first..<keys.count where keys[index].hash == key.hash {
                if keys[index].hasSameText(as: key, in: bytes) {
                    throw JSONError(.duplicateKey, at: key.string.start - 1, in: bytes)
                }
            }
        }
        keys.append(key)
    }

    private mutating func forgetKeys(from first: Int, _ bytes: Span<UInt8>) throws(JSONError) {
        if keys.count - first > Self.pairwiseLimit {
            keys[first...].sort { $0.hash < $1.hash }
            for index in first + 1..<keys.count {
                var earlier = index - 1
                while earlier >= first && keys[earlier].hash == keys[index].hash {
                    if keys[earlier].hasSameText(as: keys[index], in: bytes) {
                        let place = max(keys[earlier].string.start, keys[index].string.start)
                        throw JSONError(.duplicateKey, at: place - 1, in: bytes)
                    }
                    earlier -= 1
                }
            }
        }
        keys.removeLast(keys.count - first)
    }

    // MARK: Scalars

    /// Consumes `true` or `false`.
    package mutating func boolean(_ bytes: Span<UInt8>) throws(JSONError) -> Bool {
        let isTrue = bytes[offset] == UInt8(ascii: "t")
        try word(isTrue ? "true" : "false", bytes)
        return isTrue
    }

    /// Consumes `null`.
    package mutating func null(_ bytes: Span<UInt8>) throws(JSONError) { try word("null", bytes) }

    private mutating func word(_ word: StaticString, _ bytes: Span<UInt8>) throws(JSONError) {
        guard ASCII.hasPrefix(bytes.extracting(offset..<bytes.count), word) else {
            throw failure(.expectedValue, bytes)
        }
        consume(word.utf8CodeUnitCount)
    }

    /// Consumes a number and returns where its text is.
    package mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> Range<Int> {
        let start = offset
        var index = offset
        if bytes[index] == UInt8(ascii: "-") { index += 1 }
        let whole = index
        index = endOfDigits(bytes, from: index)
        let hasLeadingZero = index > whole + 1 && bytes[whole] == UInt8(ascii: "0")
        if index == whole || hasLeadingZero { throw JSONError(.badNumber, at: start, in: bytes) }
        if index < bytes.count && bytes[index] == UInt8(ascii: ".") {
            let fraction = index + 1
            index = endOfDigits(bytes, from: fraction)
            if index == fraction { throw JSONError(.badNumber, at: start, in: bytes) }
        }
        let hasExponent = index < bytes.count && bytes[index] | 0x20 == UInt8(ascii: "e")
        if hasExponent {
            index += 1
            if index < bytes.count && (bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-")) {
                index += 1
            }
            let exponent = index
            index = endOfDigits(bytes, from: exponent)
            if index == exponent { throw JSONError(.badNumber, at: start, in: bytes) }
        }
        // Few numbers need the closer look.
        if refusesHugeNumbers, hasExponent || index - start > 308, isInfinite(bytes.extracting(start..<index)) {
            throw JSONError(.numberTooLarge, at: start, in: bytes)
        }
        consume(index - start)
        return start..<index
    }

    private func isInfinite(_ text: Span<UInt8>) -> Bool {
        text.withUnsafeBufferPointer { Double(String(decoding: $0, as: UTF8.self))?.isInfinite ?? false }
    }

    private func endOfDigits(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < bytes.count && ASCII.isDigit(bytes[index]) { index += 1 }
        return index
    }

    /// Consumes a string, which must start at the current offset.
    package mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> JSONString {
        let start = offset + 1
        var index = start
        var saved = 0
        var compactExtra = 0
        let count = bytes.count
        while true {
            index = Self.endOfPlainText(bytes, from: index)
            guard index < count else { break }
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                let length = index - start - saved
                let string = JSONString(start: start, end: index, length: length, isEscaped: saved > 0)
                offset = index + 1
                compactLength += length + compactExtra + 2
                return string
            }
            if byte >= 0x80 {
                index = try endOfScalar(bytes, at: index)
            } else if byte == UInt8(ascii: "\\") {
                let escape = try self.escape(bytes, at: index)
                index += escape.written
                saved += escape.written - escape.decoded
                compactExtra += escape.compact - escape.decoded
            } else {
                throw JSONError(byte == 0 ? .nul : .controlCharacter, at: index, in: bytes)
            }
        }
        throw JSONError(.endOfInput, at: count, in: bytes)
    }

    /// The first byte from here on that is not printable ASCII, or is a quote or a backslash; eight bytes at a time.
    private static func endOfPlainText(_ bytes: Span<UInt8>, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        let raw = bytes.bytes
        while index + 8 <= bytes.count {
            // Any eight bytes are a valid UInt64, and the bounds are checked.
            let word = UInt64(littleEndian: raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            let special =
                word | (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes
                | (backslashes &- ones) & ~backslashes
            let marks = special & (ones &* 0x80)
            // A borrow can only mark bytes above the first real one, so the lowest mark is right.
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            index += 1
        }
        return index
    }

    /// How long an escape is as written, once decoded, and when it is written again as short as possible.
    private struct Escape {
        var written: Int
        var decoded: Int
        var compact: Int
    }

    private func escape(_ bytes: Span<UInt8>, at index: Int) throws(JSONError) -> Escape {
        guard index + 1 < bytes.count else { throw JSONError(.endOfInput, at: bytes.count, in: bytes) }
        let letter = bytes[index + 1]
        guard letter == UInt8(ascii: "u") else {
            guard let meaning = JSONString.meaning(of: letter) else {
                throw JSONError(.badEscape, at: index, in: bytes)
            }
            return Escape(written: 2, decoded: 1, compact: meaning == UInt8(ascii: "/") ? 1 : 2)
        }
        guard let unit = JSONString.codeUnit(at: index + 2, in: bytes) else {
            throw JSONError(.badEscape, at: index, in: bytes)
        }
        switch unit {
        case 0:
            throw JSONError(.nul, at: index, in: bytes)
        case ..<0x20:
            let isShort = unit == 8 || unit == 9 || unit == 10 || unit == 12 || unit == 13
            return Escape(written: 6, decoded: 1, compact: isShort ? 2 : 6)
        case 0x22, 0x5C:
            return Escape(written: 6, decoded: 1, compact: 2)
        case 0xD800...0xDBFF:
            guard index + 7 < bytes.count, bytes[index + 6] == UInt8(ascii: "\\"),
                bytes[index + 7] == UInt8(ascii: "u"),
                let low = JSONString.codeUnit(at: index + 8, in: bytes), low & 0xFC00 == 0xDC00
            else { throw JSONError(.loneSurrogate, at: index, in: bytes) }
            return Escape(written: 12, decoded: 4, compact: 4)
        case 0xDC00...0xDFFF:
            throw JSONError(.loneSurrogate, at: index, in: bytes)
        default:
            let length = unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3
            return Escape(written: 6, decoded: length, compact: length)
        }
    }

    /// The end of the UTF-8 sequence that starts here: no overlong form, no surrogate, nothing above U+10FFFF.
    private func endOfScalar(_ bytes: Span<UInt8>, at index: Int) throws(JSONError) -> Int {
        let lead = bytes[index]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: throw JSONError(.invalidUTF8, at: index, in: bytes)
        }
        guard index + length <= bytes.count, second.contains(bytes[index + 1]) else {
            throw JSONError(.invalidUTF8, at: index, in: bytes)
        }
        var next = index + 2
        while next < index + length {
            guard bytes[next] & 0xC0 == 0x80 else { throw JSONError(.invalidUTF8, at: index, in: bytes) }
            next += 1
        }
        return next
    }

    // MARK: Moving

    private mutating func skipWhiteSpace(_ bytes: Span<UInt8>) {
        while offset < bytes.count {
            let byte = bytes[offset]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            offset += 1
        }
    }

    private mutating func consume(_ count: Int) {
        offset += count
        compactLength += count
    }

    private func failure(_ problem: JSONError.Problem, _ bytes: Span<UInt8>) -> JSONError {
        JSONError(problem, at: offset, in: bytes)
    }
}
