/// Questions about single bytes of ASCII text.
enum ASCII {
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte - 0x30 }
        let lower = byte | 0x20
        return lower &- 0x61 < 6 ? lower - 0x61 + 10 : nil
    }

    /// Whether the bytes are exactly this ASCII text.
    static func equal(_ bytes: Span<UInt8>, _ text: StaticString) -> Bool {
        bytes.count == text.utf8CodeUnitCount && hasPrefix(bytes, text)
    }

    /// Whether the bytes are this lower-case ASCII text, upper-case letters counting as lower-case ones.
    static func equalIgnoringCase(_ bytes: Span<UInt8>, _ lowercase: StaticString) -> Bool {
        guard bytes.count == lowercase.utf8CodeUnitCount else { return false }
        let expected = lowercase.utf8Start
        for index in 0..<bytes.count {
            var byte = bytes[index]
            if byte &- 0x41 < 26 { byte |= 0x20 }
            // The pointer is to a literal of as many bytes.
            if byte != expected[index] { return false }
        }
        return true
    }

    /// Whether the bytes start with this ASCII text.
    static func hasPrefix(_ bytes: Span<UInt8>, _ text: StaticString) -> Bool {
        guard bytes.count >= text.utf8CodeUnitCount else { return false }
        let expected = text.utf8Start
        // The pointer is to a literal, and the index stays within it.
        for index in 0..<text.utf8CodeUnitCount where bytes[index] != expected[index] { return false }
        return true
    }

    /// Whether the bytes end with this ASCII text.
    static func hasSuffix(_ bytes: Span<UInt8>, _ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard bytes.count >= length else { return false }
        return hasPrefix(bytes.extracting(bytes.count - length..<bytes.count), text)
    }

    /// The value of one or more digits and nothing else, at most `Int.max`; nil for anything else.
    static func saturatingInteger(_ bytes: Span<UInt8>) -> Int? {
        guard bytes.count > 0 else { return nil }
        var value = 0
        for index in 0..<bytes.count {
            guard isDigit(bytes[index]) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int(bytes[index] - 0x30))
            value = overflow || carry ? Int.max : sum
        }
        return value
    }
}
