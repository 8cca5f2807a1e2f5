package import Delivery
package import Operations

/// One JSON object a line; only the fields that are asked for are kept, nested ones by `user.name`.
///
/// Strings, numbers as they are written, `true` and `false` count as text; `null` is empty. Empty lines are skipped.
package struct NDJSONReader: RowReader {
    package let columns: [String]
    private let names: [[UInt8]]
    private let isList: [Bool]
    private var lines: LineReader
    private var path: [UInt8] = []

    /// Rows with these fields; those of `lists` may be lists, whose JSON is their text.
    package init(_ source: ByteReader, columns: [String], lists: Set<String> = []) {
        self.columns = columns
        isList = columns.map(lists.contains)
        names = columns.map { Array($0.utf8) }
        lines = LineReader(source, limit: RowLimits.row)
    }

    package var bytesTaken: Int { lines.bytesTaken }

    private var text: [UInt8] { lines.bytes }

    package mutating func next(into row: inout TemplateRow) throws(Failure) -> ReadRow {
        repeat {
            guard try lines.next() else { return .end }
            guard !lines.isTooLong else {
                return .refused(
                    line: lines.number, reason: "longer than \(RowLimits.row >> 20) MiB",
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
        default:
            guard isList[field] else { return "the field \(columns[field]) is a list" }
            let from = scanner.offset
            try scanner.skipValue(text.span)
            row.bytes.append(contentsOf: text[from..<scanner.offset])
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
