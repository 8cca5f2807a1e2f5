/// A pass over a template's text that finds its placeholders and their places, which a parsed JSON value has lost.
struct TemplateScan {
    /// Where each column is named first.
    private(set) var positions: [String: TemplatePosition] = [:]

    /// Reads JSON text that has been parsed already; only strings matter here.
    init(_ text: [UInt8]) throws(TemplateError) {
        var line = 1
        var lineStart = 0
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\n"):
                line += 1
                lineStart = index + 1
                index += 1
            case UInt8(ascii: "\""):
                index = try string(text, from: index + 1, line: line, lineStart: lineStart)
            default:
                index += 1
            }
        }
    }

    /// Reads a string's inside and gives back the index behind its closing quote.
    private mutating func string(
        _ text: [UInt8], from start: Int, line: Int, lineStart: Int
    ) throws(TemplateError) -> Int {
        var end = start
        while end < text.count && text[end] != UInt8(ascii: "\"") {
            end += text[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        end = min(end, text.count)
        let content = Array(text[start..<end])
        var index = 0
        while index + 1 < content.count {
            guard content[index] == UInt8(ascii: "{") && content[index + 1] == UInt8(ascii: "{") else {
                index += 1
                continue
            }
            // Columns count characters of the text, so bytes that continue one do not count.
            let column = text[lineStart..<(start + index)].count { $0 & 0xC0 != 0x80 } + 1
            let position = TemplatePosition(line: line, column: column)
            guard let close = TemplateText.end(of: content, from: index + 2) else {
                throw TemplateText.unclosed(at: position)
            }
            guard !Self.isKey(text, closingQuote: end) else {
                throw TemplateError(
                    "a placeholder in a key", at: position, remedy: "placeholders stand in values only")
            }
            let placeholder = try TemplateText.placeholder(
                Self.unescaped(content[(index + 2)..<close])[...], at: position)
            for name in placeholder.columns where positions[name] == nil { positions[name] = position }
            index = close + 2
        }
        return end + 1
    }

    /// The text that a part of a JSON string stands for.
    private static func unescaped(_ content: ArraySlice<UInt8>) -> [UInt8] {
        let quote = [UInt8(ascii: "\"")]
        guard content.contains(UInt8(ascii: "\\")),
            case .string(let text)? = try? JSONValue.parse((quote + content + quote).span)
        else { return Array(content) }
        return Array(text.utf8)
    }

    /// Whether the string that ends here is followed by a colon.
    private static func isKey(_ text: [UInt8], closingQuote: Int) -> Bool {
        var index = closingQuote + 1
        while index < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[index]) { index += 1 }
        return index < text.count && text[index] == UInt8(ascii: ":")
    }
}
