import Delivery
import Operations

/// One JSON object a line; only the fields that the template names are kept, nested ones by `user.name`.
///
/// Strings, numbers as they are written, `true` and `false` count as text; `null` is empty. Empty lines are skipped.
struct NDJSONReader: AudienceReader {
    let columns: [String]
    private let names: [[UInt8]]
    private var input: ByteReader
    private var line = 0
    private var text: [UInt8] = []
    private var path: [UInt8] = []

    /// An audience whose rows have these fields.
    init(_ source: ByteReader, columns: [String]) {
        self.columns = columns
        names = columns.map { Array($0.utf8) }
        input = source
    }

    var bytesTaken: Int { input.bytesBefore + input.position }

    mutating func next(into row: inout TemplateRow) throws(Failure) -> AudienceRow {
        repeat {
            guard try readLine() else { return .end }
            guard text.count <= AudienceLimits.row else {
                return .refused(
                    line: line, reason: "longer than \(AudienceLimits.row >> 20) MiB", input: storable(text[...]))
            }
        } while text.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        row.reset()
        for _ in names {
            row.starts.append(-1)
            row.ends.append(-1)
        }
        let fault = fault(into: &row)
        guard let fault else { return .row(line: line) }
        return .refused(line: line, reason: fault, input: storable(text[...]))
    }

    /// Reads a line into `text`, without its end; `false` at the end of the input.
    ///
    /// Of a line that is too long only as much is kept as shows that it is.
    private mutating func readLine() throws(Failure) -> Bool {
        text.removeAll(keepingCapacity: true)
        guard try input.hasByte() else { return false }
        line += 1
        while try input.hasByte() {
            let start = input.position
            let piece = input.buffer[start...]
            let end = piece.withUnsafeBufferPointer { $0.firstIndex(of: UInt8(ascii: "\n")) }.map { $0 + start }
            if text.count <= AudienceLimits.row {
                text.append(contentsOf: input.buffer[start..<(end ?? input.buffer.count)])
            }
            input.position = end.map { $0 + 1 } ?? input.buffer.count
            if end != nil { break }
        }
        if line == 1 && text.starts(with: [0xEF, 0xBB, 0xBF]) { text.removeFirst(3) }
        return true
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

    private func append(_ string: JSONString, to bytes: inout [UInt8]) {
        if string.isEscaped {
            bytes.append(contentsOf: string.text(in: text.span).utf8)
        } else {
            bytes.append(contentsOf: text[string.start..<string.end])
        }
    }
}
