#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Steps over JSON text: finds where values end, and leaves it to the message's rules to judge them.
struct EnvelopeReader {
    private(set) var position = 0

    /// Consumes the character, after any white space, if it is the next one.
    mutating func take(_ character: Unicode.Scalar, _ body: Span<UInt8>) -> Bool {
        skipWhiteSpace(body)
        guard position < body.count, body[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Consumes a string; gives back the range between its quotes.
    mutating func string(_ body: Span<UInt8>) -> Range<Int>? {
        guard take("\"", body) else { return nil }
        let start = position
        return skipRestOfString(body) ? start..<position - 1 : nil
    }

    /// Consumes a value of any kind; gives back its range.
    mutating func value(_ body: Span<UInt8>) -> Range<Int>? {
        skipWhiteSpace(body)
        let start = position
        var depth = 0
        while position < body.count {
            let byte = body[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard skipRestOfString(body) else { return nil }
                if depth == 0 { return start..<position }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // A bare word or number ends where the object around it ends.
                if depth == 0 { return start < position ? start..<position : nil }
                depth -= 1
                position += 1
                if depth == 0 { return start..<position }
            case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                if depth == 0 { return start < position ? start..<position : nil }
                position += 1
            default: position += 1
            }
        }
        return nil
    }

    /// Whether nothing but white space is left.
    mutating func isAtEnd(_ body: Span<UInt8>) -> Bool {
        skipWhiteSpace(body)
        return position == body.count
    }

    /// Goes behind the closing quote: the first one with an even number of backslashes in front of it.
    private mutating func skipRestOfString(_ body: Span<UInt8>) -> Bool {
        let start = position
        while let quote = Self.nextQuote(body, from: position) {
            position = quote + 1
            var backslash = quote
            while backslash > start, body[backslash - 1] == UInt8(ascii: "\\") { backslash -= 1 }
            if (quote - backslash).isMultiple(of: 2) { return true }
        }
        position = body.count
        return false
    }

    private static func nextQuote(_ body: Span<UInt8>, from start: Int) -> Int? {
        body.withUnsafeBufferPointer { bytes -> Int? in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + start, Int32(UInt8(ascii: "\"")), bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - UnsafeRawPointer(base)
        }
    }

    private mutating func skipWhiteSpace(_ body: Span<UInt8>) {
        while position < body.count {
            switch body[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }
}
