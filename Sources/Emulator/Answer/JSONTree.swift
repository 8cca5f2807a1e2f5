/// A small JSON value that prints itself as Google's servers do: two spaces, one member a line.
indirect enum JSONTree {
    case string(String)
    case int(Int)
    case array([JSONTree])
    case object([(String, JSONTree)])

    /// Appends the text with a line break at its end.
    func write(to output: inout [UInt8]) {
        write(to: &output, indent: 0)
        output.append(UInt8(ascii: "\n"))
    }

    private func write(to output: inout [UInt8], indent: Int) {
        switch self {
        case .string(let text): Self.appendQuoted(text, to: &output)
        case .int(let value): output.append(contentsOf: String(value).utf8)
        case .array(let values):
            Self.writeList("[", "]", values, to: &output, indent: indent) { value, output in
                value.write(to: &output, indent: indent + 2)
            }
        case .object(let members):
            Self.writeList("{", "}", members, to: &output, indent: indent) { member, output in
                Self.appendQuoted(member.0, to: &output)
                output.append(contentsOf: ": ".utf8)
                member.1.write(to: &output, indent: indent + 2)
            }
        }
    }

    private static func writeList<Element>(
        _ open: String, _ close: String, _ elements: [Element], to output: inout [UInt8], indent: Int,
        _ write: (Element, inout [UInt8]) -> Void
    ) {
        output.append(contentsOf: open.utf8)
        for (index, element) in elements.enumerated() {
            output.append(contentsOf: index == 0 ? "\n".utf8 : ",\n".utf8)
            output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent + 2))
            write(element, &output)
        }
        if !elements.isEmpty {
            output.append(UInt8(ascii: "\n"))
            output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent))
        }
        output.append(contentsOf: close.utf8)
    }

    /// Appends the text as a JSON string.
    static func appendQuoted(_ text: String, to output: inout [UInt8]) {
        let digits = [UInt8]("0123456789abcdef".utf8)
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case UInt8(ascii: "\n"): output.append(contentsOf: "\\n".utf8)
            case 0..<0x20:
                output.append(contentsOf: "\\u00".utf8)
                output.append(digits[Int(byte >> 4)])
                output.append(digits[Int(byte & 15)])
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}
