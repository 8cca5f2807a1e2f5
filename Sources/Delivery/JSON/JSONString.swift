/// A string inside scanned JSON: where its contents are, not the contents themselves.
package struct JSONString: Sendable {
    /// First byte after the opening quote.
    package let start: Int
    /// The closing quote.
    package let end: Int
    /// UTF-8 bytes of the contents once escapes are resolved.
    package let length: Int
    /// Whether the contents hold at least one escape, so that the bytes in between the quotes are not the contents.
    package let isEscaped: Bool

    /// The contents as a value of their own.
    package func text(in bytes: Span<UInt8>) -> String {
        withContents(in: bytes) { contents in
            contents.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Calls `body` with the contents, without a copy when nothing is escaped.
    func withContents<Result>(in bytes: Span<UInt8>, _ body: (Span<UInt8>) -> Result) -> Result {
        if !isEscaped { return body(bytes.extracting(start..<end)) }
        let contents = decoded(from: bytes)
        return body(contents.span)
    }

    /// The contents with escapes resolved.
    ///
    /// The string was scanned, so every escape is known to be well formed.
    func decoded(from bytes: Span<UInt8>) -> [UInt8] {
        var contents: [UInt8] = []
        contents.reserveCapacity(length)
        var index = start
        while index < end {
            let byte = bytes[index]
            if byte != UInt8(ascii: "\\") {
                contents.append(byte)
                index += 1
                continue
            }
            let letter = bytes[index + 1]
            guard letter == UInt8(ascii: "u") else {
                contents.append(Self.meaning(of: letter) ?? letter)
                index += 2
                continue
            }
            var scalar = Self.codeUnit(at: index + 2, in: bytes) ?? 0
            index += 6
            if scalar & 0xFC00 == 0xD800 {
                let low = Self.codeUnit(at: index + 2, in: bytes) ?? 0
                scalar = 0x1_0000 + (scalar & 0x3FF) << 10 + low & 0x3FF
                index += 6
            }
            Self.appendUTF8(scalar, to: &contents)
        }
        return contents
    }

    /// What the letter of a two-byte escape stands for, or nil if there is no such escape.
    static func meaning(of letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// The UTF-16 code unit of four hexadecimal digits, or nil if they are not that.
    static func codeUnit(at index: Int, in bytes: Span<UInt8>) -> UInt32? {
        guard index + 4 <= bytes.count else { return nil }
        var unit: UInt32 = 0
        for position in index..<index + 4 {
            guard let digit = ASCII.hexValue(bytes[position]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    private static func appendUTF8(_ scalar: UInt32, to contents: inout [UInt8]) {
        switch scalar {
        case ..<0x80:
            contents.append(UInt8(truncatingIfNeeded: scalar))
        case ..<0x800:
            contents.append(UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6))
            contents.append(UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F))
        case ..<0x1_0000:
            contents.append(UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12))
            contents.append(UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3F))
            contents.append(UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F))
        default:
            contents.append(UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18))
            contents.append(UInt8(truncatingIfNeeded: 0x80 | scalar >> 12 & 0x3F))
            contents.append(UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3F))
            contents.append(UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F))
        }
    }
}
