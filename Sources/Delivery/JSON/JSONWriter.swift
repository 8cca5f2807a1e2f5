extension JSONValue {
    /// Appends the value as compact JSON: no white space, members in order, only the escapes that RFC 8259 requires.
    package func write(into output: inout [UInt8]) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .boolean(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text): output.append(contentsOf: text.utf8)
        case .string(let text): appendJSONString(text, into: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(into: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                appendJSONString(member.key, into: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(into: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }
}

/// Appends a string with its quotes.
package func appendJSONString(_ text: String, into output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { appendJSONEscaped($0.span, into: &output) }
    output.append(UInt8(ascii: "\""))
}

/// Appends the contents of a string, without quotes, with the escapes that RFC 8259 requires and no others.
///
/// Escaped are `"`, `\` and the control characters below U+0020. Everything else, also U+2028, stays as it is.
///
/// The bytes are not checked: invalid UTF-8 goes in as it is, and a NUL becomes `\u0000`; `MessageRules` refuses both.
package func appendJSONEscaped(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
    bytes.withUnsafeBufferPointer { buffer in
        var run = 0
        for index in 0..<buffer.count {
            let byte = buffer[index]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            output.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[run..<index]))
            run = index + 1
            output.append(UInt8(ascii: "\\"))
            switch byte {
            case 0x08: output.append(UInt8(ascii: "b"))
            case 0x09: output.append(UInt8(ascii: "t"))
            case 0x0A: output.append(UInt8(ascii: "n"))
            case 0x0C: output.append(UInt8(ascii: "f"))
            case 0x0D: output.append(UInt8(ascii: "r"))
            case ..<0x20:
                let low = byte & 0xF
                output.append(contentsOf: "u00".utf8)
                output.append(0x30 + byte >> 4)
                output.append(low < 10 ? 0x30 + low : 0x61 + low - 10)
            default: output.append(byte)
            }
        }
        output.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[run..<buffer.count]))
    }
}
