/// Base64 with the URL alphabet and without padding (RFC 4648 §5, as JWS wants it).
package enum Base64URL {
    private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The text of the bytes, ASCII only.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var position = 0
        while position < bytes.count {
            let available = min(3, bytes.count - position)
            var group: UInt32 = 0
            for offset in 0..<3 {
                group = group << 8 | (offset < available ? UInt32(bytes[position + offset]) : 0)
            }
            for digit in 0...available {
                text.append(alphabet[Int(group >> UInt32(18 - 6 * digit) & 63)])
            }
            position += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of the text, or nil where a character, a length or a trailing bit is not canonical.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var group: UInt32 = 0
        var bits = 0
        for character in text {
            guard let value = value(of: character) else { return nil }
            group = group << 6 | value
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
                group &= (1 << UInt32(bits)) - 1
            }
        }
        // Six spare bits mean a lone character; set spare bits mean two texts for the same bytes.
        return bits < 6 && group == 0 ? bytes : nil
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
