/// Cuts libpq's and the server's texts down to one line that gives nothing away.
enum ErrorText {
    /// The first line with something in it.
    static func firstLine(_ text: String, otherwise: String = "unknown error") -> String {
        for line in text.split(whereSeparator: \.isNewline) {
            let trimmed = trim(line)
            if !trimmed.isEmpty { return String(trimmed) }
        }
        return otherwise
    }

    /// Errors of class 22 quote the value they could not take, which may be a device token.
    static func redacted(_ message: String, for state: SQLState) -> String {
        guard state.classCode == "22", let first = message.firstIndex(of: "\""),
            let last = message.lastIndex(of: "\""), first < last
        else { return message }
        return message[..<first] + "\"…\"" + message[message.index(after: last)...]
    }

    /// Finds `SEVERITY:  28P01: text` in a verbose text of libpq; gives the line without the code.
    static func serverError(in text: String) -> (state: SQLState, message: String)? {
        for line in text.split(whereSeparator: \.isNewline) {
            let bytes = Array(line.utf8)
            guard bytes.count > 10 else { continue }
            for start in 0..<(bytes.count - 10) where isCode(bytes, at: start) {
                let code = String(decoding: bytes[(start + 3)..<(start + 8)], as: UTF8.self)
                let message = bytes[..<(start + 3)] + bytes[(start + 10)...]
                return (SQLState(rawValue: code), String(trim(Substring(decoding: message, as: UTF8.self))))
            }
        }
        return nil
    }

    /// What `PQconninfoParse` said, up to the first quotation mark: what follows it may be a piece of the password.
    static func connectionStringFault(_ text: String) -> String {
        let line = firstLine(text, otherwise: "it cannot be parsed")
        if line.hasPrefix("missing \"=\"") { return "a word in it has no \"=\" after it" }
        let head = trim(line[..<(line.firstIndex(of: "\"") ?? line.endIndex)])
        return String(head.hasSuffix(":") ? head.dropLast() : head)
    }

    /// `:  ` and five digits or capitals and `: `.
    private static func isCode(_ bytes: [UInt8], at start: Int) -> Bool {
        guard bytes[start] == UInt8(ascii: ":"), bytes[start + 1] == 0x20, bytes[start + 2] == 0x20,
            bytes[start + 8] == UInt8(ascii: ":"), bytes[start + 9] == 0x20
        else { return false }
        return bytes[(start + 3)..<(start + 8)].allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
    }

    private static func trim(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
