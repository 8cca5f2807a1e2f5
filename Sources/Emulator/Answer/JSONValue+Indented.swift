import Delivery

extension JSONValue {
    static func int(_ value: Int) -> JSONValue { .number(String(value)) }
    static func members(_ members: [(String, JSONValue)]) -> JSONValue { .object(members.map { Member($0.0, $0.1) }) }

    /// Appends the value as Google's servers print it, two spaces and one member a line, with a line break at its end.
    func writeIndented(to output: inout [UInt8]) {
        write(to: &output, indent: 0)
        output.append(UInt8(ascii: "\n"))
    }

    private func write(to output: inout [UInt8], indent: Int) {
        switch self {
        case .null, .boolean, .number, .string: write(into: &output)
        case .array(let values):
            Self.writeList("[", "]", values, to: &output, indent: indent) { value, output in
                value.write(to: &output, indent: indent + 2)
            }
        case .object(let members):
            Self.writeList("{", "}", members, to: &output, indent: indent) { member, output in
                appendJSONString(member.key, into: &output)
                output.append(contentsOf: ": ".utf8)
                member.value.write(to: &output, indent: indent + 2)
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
}
