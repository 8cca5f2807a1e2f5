/// Reading what strangers answer: as leniently as is safe, since the outcome of a post hangs on it.
///
/// What Todoke itself stores is read by the strict `JSONValue.parse`.
package enum AnswerBody {
    /// The body as a value for look-ups; nil for anything but JSON.
    ///
    /// A byte order mark is skipped. Of a key that is there twice the last value counts, and its members come first.
    /// NUL, halves of surrogate pairs and invalid UTF-8 become U+FFFD: a server that cuts the text it quotes leaves such.
    static func value(_ body: Span<UInt8>) -> JSONValue? {
        let mark = body.count >= 3 && body[0] == 0xEF && body[1] == 0xBB && body[2] == 0xBF
        let text = mark ? body.extracting(3..<body.count) : body
        do throws(JSONError) {
            return try JSONValue.parse(text, takesRepeatedKeys: true)
        } catch {
            guard isRepairable(error) else { return nil }
            return try? JSONValue.parse(repaired(text).span, takesRepeatedKeys: true)
        }
    }

    /// Whether `repaired` may help.
    package static func isRepairable(_ error: JSONError) -> Bool {
        error.problem == .nul || error.problem == .loneSurrogate || error.problem == .invalidUTF8
    }

    /// The text with U+FFFD in place of invalid UTF-8 and of escapes that stand for NUL or half a surrogate pair.
    package static func repaired(_ text: Span<UInt8>) -> [UInt8] {
        let valid = Array(text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(valid.count)
        var index = 0
        while index < valid.count {
            let length = escapeLength(at: index, in: valid.span)
            if let length {
                output.append(contentsOf: valid[index..<min(index + length, valid.count)])
                index += length
            } else {
                output.append(contentsOf: #"\ufffd"#.utf8)
                index += 6
            }
        }
        return output
    }

    /// Bytes that stand for one thing here: 1, 2 or 6 for an escape, 12 for a pair; nil for six that no text can hold.
    private static func escapeLength(at index: Int, in text: Span<UInt8>) -> Int? {
        guard text[index] == UInt8(ascii: "\\") else { return 1 }
        guard index + 1 < text.count, text[index + 1] == UInt8(ascii: "u"),
            let unit = JSONString.codeUnit(at: index + 2, in: text)
        else { return 2 }
        guard unit != 0, unit & 0xFC00 != 0xDC00 else { return nil }
        guard unit & 0xFC00 == 0xD800 else { return 6 }
        guard index + 7 < text.count, text[index + 6] == UInt8(ascii: "\\"), text[index + 7] == UInt8(ascii: "u"),
            let low = JSONString.codeUnit(at: index + 8, in: text), low & 0xFC00 == 0xDC00
        else { return nil }
        return 12
    }
}
