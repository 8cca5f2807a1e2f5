import Delivery
import Operations

/// One JSON object a line; only the fields that the template names are kept, nested ones by `user.name`.
///
/// Strings, numbers as they are written, `true` and `false` count as text; `null` is empty. Empty lines are skipped.
struct NDJSONReader: AudienceReader {
    let columns: [String]
    private let names: [[UInt8]]
    private var lines: LineReader
    private var path: [UInt8] = []

    /// An audience whose rows have these fields.
    init(_ source: ByteReader, columns: [String]) {
        self.columns = columns
        names = columns.map { Array($0.utf8) }
        lines = LineReader(source, limit: AudienceLimits.row)
    }

    var bytesTaken: Int { lines.bytesTaken }

    private var text: [UInt8] { lines.bytes }

    mutating func next(into row: inout TemplateRow) throws(Failure) -> AudienceRow {
        repeat {
            guard try lines.next() else { return .end }
            guard !lines.isTooLong else {
                return .refused(
                    line: lines.number, reason: "longer than \(AudienceLimits.row >> 20) MiB",
                    input: storable(text[...]))
            }
        } while lines.isBlank
        row.reset()
        for _ in names {
            row.starts.append(-1)
            row.ends.append(-1)
        }
        let fault = fault(into: &row)
        guard let fault else { return .row(line: lines.number) }
        return .refused(line: lines.number, reason: fault, input: storable(text[...]))
    }

    /// Reads the line's object into the row; why it cannot be used, if so.
    private mutating func fault(into row: inout TemplateRow) -> String? {
        path.removeAll(keepingCapacity: true)
        do throws(JSONError) {
            var scanner = JSONScanner()
            guard try scanner.nextKind(text.span) == .object else { return "not a JSON object" }
            if let fault = try object(&scanner, into: &row) { return fault }
            try scanner.finish(text.span)
            return nil
        } catch {
            return error.problem == .nul
                ? "contains NUL (U+0000)" : "not usable JSON: \(error.problem.rawValue) (column \(error.column))"
        }
    }

    /// Reads an object whose keys continue `path`.
    private mutating func object(
        _ scanner: inout JSONScanner, into row: inout TemplateRow
    ) throws(JSONError) -> String? {
        let prefix = path.count
        var members = try scanner.openObject(text.span)
        while let key = try scanner.nextKey(text.span, &members) {
            path.removeLast(path.count - prefix)
            if prefix > 0 { path.append(UInt8(ascii: ".")) }
            append(key.string, to: &path)
            let field = names.firstIndex(of: path)
            if let field, row.has(field) { return "the field \(columns[field]) is there twice" }
            if let fault = try value(&scanner, field, into: &row) { return fault }
        }
        path.removeLast(path.count - prefix)
        return nil
    }

    private mutating func value(
        _ scanner: inout JSONScanner, _ field: Int?, into row: inout TemplateRow
    ) throws(JSONError) -> String? {
        let kind = try scanner.nextKind(text.span)
        if kind == .object {
            if let field { return "the field \(columns[field]) is an object" }
            return try object(&scanner, into: &row)
        }
        guard let field else {
            // An object that is null has none of its fields: they are empty.
            if kind == .null { return try emptyObject(&scanner, into: &row) }
            try scanner.skipValue(text.span)
            return nil
        }
        let start = row.bytes.count
        switch kind {
        case .string: append(try scanner.string(text.span), to: &row.bytes)
        case .number: row.bytes.append(contentsOf: text[try scanner.number(text.span)])
        case .boolean: row.bytes.append(contentsOf: (try scanner.boolean(text.span) ? "true" : "false").utf8)
        case .null: try scanner.null(text.span)
        default: return "the field \(columns[field]) is a list"
        }
        row.starts[field] = start
        row.ends[field] = row.bytes.count
        return nil
    }

    private func emptyObject(
        _ scanner: inout JSONScanner, into row: inout TemplateRow
    ) throws(JSONError) -> String? {
        try scanner.null(text.span)
        for (field, name) in names.enumerated()
        where name.count > path.count && name.starts(with: path) && name[path.count] == UInt8(ascii: ".") {
            guard !row.has(field) else { return "the field \(columns[field]) is there twice" }
            row.starts[field] = row.bytes.count
            row.ends[field] = row.bytes.count
        }
        return nil
    }

    private func append(_ string: JSONString, to bytes: inout [UInt8]) {
        if string.isEscaped {
            bytes.append(contentsOf: string.text(in: text.span).utf8)
        } else {
            bytes.append(contentsOf: text[string.start..<string.end])
        }
    }
}
