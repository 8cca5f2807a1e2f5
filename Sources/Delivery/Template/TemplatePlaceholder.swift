/// A column and what is done to its value: `{{name|default:"there"}}`.
struct TemplatePlaceholder: Equatable, Sendable {
    let column: String
    let filters: [TemplateFilter]

    /// Every column it reads, its own first.
    var columns: [String] {
        [column]
            + filters.compactMap {
                if case .date(_, .column(let zone)) = $0 { zone } else { nil }
            }
    }

    /// Whether it is written as a JSON number.
    var isNumber: Bool { filters.contains(.number) }
    var isOmittedWhenEmpty: Bool { filters.contains(.omit) && !isNeverEmpty }

    /// Whether no row makes it empty.
    var isNeverEmpty: Bool {
        filters.contains { if case .fallback(let text) = $0 { !text.isEmpty } else { false } }
    }

    /// Reads what stands between the braces.
    init(_ text: String) throws(TemplateProblem) {
        var parts = try Self.split(Array(text.utf8), at: UInt8(ascii: "|"), in: text)[...]
        column = Self.trimmed(parts.removeFirst())
        guard !column.isEmpty else {
            throw TemplateProblem(
                "a placeholder names no column: {{\(text)}}", "put a column of the audience between the braces")
        }
        guard !column.contains("{"), !column.contains("}") else {
            throw TemplateProblem("braces inside a placeholder: {{\(text)}}", "write {{column}}")
        }
        var filters: [TemplateFilter] = []
        for part in parts {
            var words = try Self.split(part, at: UInt8(ascii: ":"), in: text)[...]
            let name = Self.trimmed(words.removeFirst())
            var arguments: [TemplateArgument] = []
            for word in words { arguments.append(try Self.argument(Self.trimmed(word), of: name)) }
            filters.append(try TemplateFilter(name, arguments))
        }
        self.filters = filters
        if let index = filters.firstIndex(of: .number), filters[(index + 1)...].contains(where: { $0 != .omit }) {
            throw TemplateProblem("number is not the last filter: {{\(text)}}", "put it at the end")
        }
    }

    private static func argument(_ word: String, of filter: String) throws(TemplateProblem) -> TemplateArgument {
        guard let quote = word.first, quote == "\"" || quote == "'" else {
            guard !word.isEmpty else {
                throw TemplateProblem("\(filter): nothing stands behind a colon", "put a value there, or leave it out")
            }
            return .word(word)
        }
        guard word.count >= 2, word.last == quote, word.dropFirst().dropLast().allSatisfy({ $0 != quote }) else {
            throw TemplateProblem("\(filter): text around or inside quotes", "write one text in quotes")
        }
        return .text(String(word.dropFirst().dropLast()))
    }

    /// The pieces between separators that stand outside quotes; in the first piece quotes are letters like others.
    private static func split(
        _ bytes: [UInt8], at separator: UInt8, in text: String
    ) throws(TemplateProblem) -> [[UInt8]] {
        var pieces: [[UInt8]] = [[]]
        var quote: UInt8?
        for byte in bytes {
            if byte == separator && quote == nil {
                pieces.append([])
                continue
            }
            if pieces.count > 1 {
                if byte == quote {
                    quote = nil
                } else if quote == nil && (byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")) {
                    quote = byte
                }
            }
            pieces[pieces.count - 1].append(byte)
        }
        guard quote == nil else {
            throw TemplateProblem("a quote is not closed: {{\(text)}}", "close it; }} cannot stand in a text there")
        }
        return pieces
    }

    private static func trimmed(_ bytes: [UInt8]) -> String {
        let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        guard let first = bytes.firstIndex(where: { !spaces.contains($0) }),
            let last = bytes.lastIndex(where: { !spaces.contains($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}
