/// The name in FCM's answer to a message that it took: `{"name":"projects/p/messages/0:150…"}`.
///
/// Read for every message that is sent, so the usual answer costs one walk over its bytes and one string.
enum FCMName {
    /// The id after the component `messages`; nil where there is none.
    static func messageID(inAnswer body: Span<UInt8>) -> String? {
        if let name = plainName(body) { return messageID(body.extracting(name)) }
        guard let name = AnswerBody.value(body)?["name"]?.stringValue else { return nil }
        return messageID(Array(name.utf8).span)
    }

    /// Everything after the first component that is `messages`.
    static func messageID(_ name: Span<UInt8>) -> String? {
        var start = 0
        for index in 0..<name.count where name[index] == UInt8(ascii: "/") {
            if equals(name, start..<index, "messages") {
                let rest = name.extracting((index + 1)..<name.count)
                return rest.isEmpty ? nil : rest.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            }
            start = index + 1
        }
        return nil
    }

    /// Where the name stands in an object that holds nothing else; nil for everything that needs a real parser, escapes
    /// and text beyond ASCII among it.
    private static func plainName(_ body: Span<UInt8>) -> Range<Int>? {
        var index = 0
        func skipWhiteSpace() {
            while index < body.count, [0x20, 0x0A, 0x0D, 0x09].contains(body[index]) { index += 1 }
        }
        func take(_ byte: UInt8) -> Bool {
            skipWhiteSpace()
            guard index < body.count, body[index] == byte else { return false }
            index += 1
            return true
        }
        let quote = UInt8(ascii: "\"")
        guard take(UInt8(ascii: "{")), take(quote), equals(body, index..<(index + 4), "name") else { return nil }
        index += 4
        guard index < body.count, body[index] == quote else { return nil }
        index += 1
        guard take(UInt8(ascii: ":")), take(quote) else { return nil }
        let start = index
        while index < body.count, body[index] >= 0x20, body[index] < 0x7F, body[index] != quote,
            body[index] != UInt8(ascii: "\\")
        { index += 1 }
        let end = index
        guard index < body.count, body[index] == quote else { return nil }
        index += 1
        guard take(UInt8(ascii: "}")) else { return nil }
        skipWhiteSpace()
        return index == body.count ? start..<end : nil
    }

    private static func equals(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount, range.upperBound <= bytes.count else { return false }
        for offset in 0..<range.count where bytes[range.lowerBound + offset] != text.utf8Start[offset] { return false }
        return true
    }
}
