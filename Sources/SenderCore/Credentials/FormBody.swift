/// The body of a form, `application/x-www-form-urlencoded`.
enum FormBody {
    static func make(_ fields: [(name: String, value: String)]) -> [UInt8] {
        var body: [UInt8] = []
        for (name, value) in fields {
            if !body.isEmpty { body.append(UInt8(ascii: "&")) }
            append(name, to: &body)
            body.append(UInt8(ascii: "="))
            append(value, to: &body)
        }
        return body
    }

    /// What is not a letter, a digit, or one of `-._~` becomes `%XX`, which is right in queries too.
    static func append(_ text: String, to body: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            if (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "-._~".utf8.contains(byte) {
                body.append(byte)
            } else {
                body += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }
}
