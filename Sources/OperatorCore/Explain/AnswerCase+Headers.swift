import Delivery

extension AnswerCase {
    /// Headers in the forms that people have them in.
    ///
    /// `{"name": "value"}` with text, numbers or arrays of them; `[["name", "value"]]`; `["name: value"]`;
    /// `[{"name": …, "value": …}]`; or the lines as they came.
    static func headers(_ value: JSONValue?) throws(LineFault) -> [(name: String, value: String)] {
        switch value {
        case nil, .null: return []
        case .object(let members):
            var headers: [(name: String, value: String)] = []
            for member in members {
                for value in try values(member.value) { headers.append((member.key, value)) }
            }
            return headers
        case .array(let elements):
            var headers: [(name: String, value: String)] = []
            for element in elements { headers += try pair(element) }
            return headers
        case .string(let text): return try lines(text)
        default: throw fault
        }
    }

    private static let fault = LineFault(
        reason: #"headers must be {"name": "value"}, [["name", "value"]], ["name: value"], or lines of text"#)

    private static func values(_ value: JSONValue) throws(LineFault) -> [String] {
        switch value {
        case .null: return []
        case .string(let text):
            // "x:" before it makes it the value of a line, trimmed.
            return [header("x:" + text)?.value ?? ""]
        case .number(let digits): return [digits]
        case .array(let elements):
            var all: [String] = []
            for element in elements { all += try values(element) }
            return all
        default: throw fault
        }
    }

    private static func pair(_ element: JSONValue) throws(LineFault) -> [(name: String, value: String)] {
        let name: JSONValue?
        let value: JSONValue?
        switch element {
        case .string(let text): return try lines(text)
        case .array(let parts):
            guard parts.count == 2 else { throw fault }
            (name, value) = (parts[0], parts[1])
        case .object: (name, value) = (element["name"], element["value"])
        default: throw fault
        }
        guard let name = name?.stringValue, let value else { throw fault }
        return try values(value).map { (name, $0) }
    }

    /// Lines as `curl -D` writes them, the status line among them.
    private static func lines(_ text: String) throws(LineFault) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        for line in text.split(whereSeparator: { $0.isNewline }) where !line.hasPrefix("HTTP/") {
            guard let header = header(line) else {
                if line.allSatisfy({ $0 == " " || $0 == "\t" }) { continue }
                throw fault
            }
            headers.append(header)
        }
        return headers
    }
}
