/// A string value of a template: pieces of plain text and placeholders.
struct TemplateText: Equatable, Sendable {
    enum Piece: Equatable, Sendable {
        case literal(String)
        case placeholder(TemplatePlaceholder)
    }

    var pieces: [Piece]

    var placeholders: [TemplatePlaceholder] {
        pieces.compactMap { if case .placeholder(let placeholder) = $0 { placeholder } else { nil } }
    }

    /// Whether it differs from row to row.
    var isChanging: Bool { !placeholders.isEmpty }

    /// The text when it has no placeholder.
    var constant: String? {
        switch pieces.count {
        case 0: ""
        case 1: if case .literal(let text) = pieces[0] { text } else { nil }
        default: nil
        }
    }

    /// Whether a row can make it empty.
    var mayBeEmpty: Bool {
        !pieces.contains { piece in
            switch piece {
            case .literal(let text): !text.isEmpty
            case .placeholder(let placeholder): placeholder.isNeverEmpty
            }
        }
    }

    /// The part whose emptiness leaves its field out, if it has one.
    var omission: TemplateText? {
        let parts = placeholders.filter(\.isOmittedWhenEmpty)
        return parts.isEmpty ? nil : TemplateText(pieces: parts.map { .placeholder($0) })
    }

    /// The part whose emptiness takes a picture away with all that belongs to it.
    var presence: TemplateText? { omission ?? (mayBeEmpty ? self : nil) }

    /// Whether it stands for a JSON number: then it is one placeholder and nothing else.
    var isNumber: Bool { placeholders.contains(where: \.isNumber) }

    private init(pieces: [Piece]) { self.pieces = pieces }

    init(constant text: String) {
        pieces = text.isEmpty ? [] : [.literal(text)]
    }

    /// Splits at `{{` and `}}`.
    init(_ text: String) throws(TemplateError) {
        pieces = []
        let bytes = Array(text.utf8)
        var literalStart = 0
        var index = 0
        while index + 1 < bytes.count {
            guard bytes[index] == UInt8(ascii: "{") && bytes[index + 1] == UInt8(ascii: "{") else {
                index += 1
                continue
            }
            guard let end = Self.end(of: bytes, from: index + 2) else { throw Self.unclosed(at: nil) }
            if literalStart < index {
                pieces.append(.literal(String(decoding: bytes[literalStart..<index], as: UTF8.self)))
            }
            pieces.append(.placeholder(try Self.placeholder(bytes[(index + 2)..<end], at: nil)))
            index = end + 2
            literalStart = index
        }
        if literalStart < bytes.count {
            pieces.append(.literal(String(decoding: bytes[literalStart...], as: UTF8.self)))
        }
        guard !isNumber || pieces.count == 1 else {
            throw TemplateError(
                "number beside other text: \"\(text)\"", remedy: "let the placeholder stand alone in its string")
        }
    }

    /// The index of the `}}` that ends a placeholder.
    static func end(of bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + 1 < bytes.count {
            if bytes[index] == UInt8(ascii: "}") && bytes[index + 1] == UInt8(ascii: "}") { return index }
            index += 1
        }
        return nil
    }

    static func unclosed(at position: TemplatePosition?) -> TemplateError {
        TemplateError(
            "a placeholder that starts with {{ has no }} in the same string", at: position,
            remedy: "write {{column}}, inside one JSON string")
    }

    /// What stands between the braces, or why it is no placeholder.
    static func placeholder(
        _ bytes: ArraySlice<UInt8>, at position: TemplatePosition?
    ) throws(TemplateError) -> TemplatePlaceholder {
        do throws(TemplateProblem) {
            return try TemplatePlaceholder(String(decoding: bytes, as: UTF8.self))
        } catch {
            throw TemplateError(error.reason, at: position, remedy: error.remedy)
        }
    }
}
