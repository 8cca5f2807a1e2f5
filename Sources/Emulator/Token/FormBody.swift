/// The fields of an `application/x-www-form-urlencoded` body.
enum FormBody {
    /// The decoded fields; of a name that comes twice the last value counts, and broken escapes stay as they are.
    static func fields(_ body: [UInt8]) -> [String: [UInt8]] {
        var fields: [String: [UInt8]] = [:]
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            fields[String(decoding: decoded(pair[..<equals]), as: UTF8.self)] = decoded(pair[equals...].dropFirst())
        }
        return fields
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var position = text.startIndex
        while position < text.endIndex {
            let byte = text[position]
            if byte == UInt8(ascii: "%"), position + 2 < text.endIndex, let high = digit(text[position + 1]),
                let low = digit(text[position + 2])
            {
                bytes.append(high << 4 | low)
                position += 3
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                position += 1
            }
        }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
