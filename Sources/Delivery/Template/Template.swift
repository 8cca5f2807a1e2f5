/// An FCM v1 message with `{{column}}` in its values, compiled once and rendered for each row of an audience.
package struct Template: Sendable {
    /// A column that the template names, and where it does so first.
    package struct Column: Equatable, Sendable {
        package let name: String
        package let position: TemplatePosition?
    }

    /// What the audience has to bring, in the order of `binding`.
    package let columns: [Column]
    /// For each of `columns`, the number of the row's field; set it before rendering.
    package var binding: [Int]
    /// The paths of the texts that differ from row to row.
    let changing: [String]
    /// Whether the template says where messages go.
    let hasTarget: Bool
    let program: TemplateProgram

    /// Compiles the text of a message: the object that goes under `message`.
    ///
    /// Throws the first fault of the template itself, with its place where it has one. What the payload rules say about
    /// it is another step: ``issues()``.
    package init(_ text: [UInt8], _ additions: TemplateAdditions) throws(TemplateError) {
        // Editors put a byte order mark there; RFC 8259 lets a reader ignore it.
        let text = text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
        let value = try Self.json(text)
        // Before the tree is read, which no longer knows where things stood.
        let scan = try TemplateScan(text)
        var object = try Self.message(value)
        try object.add(additions)
        changing = object.changingPaths()
        hasTarget = TargetKind.allCases.contains { object[$0.rawValue] != nil }
        program = TemplateProgram(object)
        columns = program.columns.map { Column(name: $0, position: scan.positions[$0]) }
        binding = Array(columns.indices)
    }

    private static func json(_ text: [UInt8]) throws(TemplateError) -> JSONValue {
        do {
            return try JSONValue.parse(text.span)
        } catch {
            throw TemplateError(
                "not JSON: \(error.problem.rawValue)", at: TemplatePosition(line: error.line, column: error.column),
                remedy: "write the message as JSON, with {{column}} only inside strings")
        }
    }

    private static func message(_ value: JSONValue) throws(TemplateError) -> TemplateObject {
        guard case .object(let message) = try TemplateNode(value) else {
            throw TemplateError("not a JSON object", remedy: "write the FCM message object")
        }
        if message.members.count == 1, message.members[0].key == "message" {
            throw TemplateError(
                "the message is wrapped in \"message\"", remedy: "write the object that stands under \"message\" alone")
        }
        return message
    }

    /// The zones that it names itself, to be looked up before the first row.
    package var zones: Set<String> { program.zones }

    /// Appends the row's message; the row must have every bound field.
    ///
    /// Gives back why there is none, where a filter cannot take a value: then what was appended is worth nothing.
    @discardableResult
    package func render(
        _ row: borrowing TemplateRow, _ desk: inout RenderingDesk, into output: inout [UInt8]
    ) -> TemplateFault? {
        desk.expirationAt = nil
        let fields = row.bytes.span
        let operations = program.operations
        var index = 0
        while index < operations.count {
            switch operations[index] {
            case .literal(let start, let end):
                output.append(contentsOf: program.pool[start..<end])
            case .column(let column):
                let field = binding[column]
                appendJSONEscaped(fields.extracting(row.starts[field]..<row.ends[field]), into: &output)
            case .filtered(let number):
                if let fault = write(program.values[number], row, &desk, into: &output) { return fault }
            case .separator:
                if output.last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
            case .skipIfEmpty(let first, let end, let target):
                var isEmpty = true
                for condition in first..<end {
                    let field = binding[program.conditions[condition]]
                    isEmpty = isEmpty && row.starts[field] == row.ends[field]
                }
                if isEmpty {
                    index = target
                    continue
                }
            case .expiration:
                desk.expirationAt = output.count
                output.append(contentsOf: RenderingDesk.someExpiration)
            }
            index += 1
        }
        return nil
    }

    private func write(
        _ value: TemplateProgram.Value, _ row: borrowing TemplateRow, _ desk: inout RenderingDesk,
        into output: inout [UInt8]
    ) -> TemplateFault? {
        let field = binding[value.column]
        desk.begin(row.bytes.span.extracting(row.starts[field]..<row.ends[field]))
        for step in value.steps {
            let reason: String?
            switch step {
            case .date(let pattern, .named(let zone)): reason = desk.writeDate(pattern, zone: zone)
            case .date(let pattern, .column(let column)):
                let field = binding[column]
                let zone = String(decoding: row.bytes[row.starts[field]..<row.ends[field]], as: UTF8.self)
                reason = desk.writeDate(pattern, zone: zone)
            default: reason = desk.apply(step)
            }
            if let reason { return TemplateFault(column: columns[value.column].name, reason: reason) }
        }
        desk.end(isNumber: value.steps.last == .number, into: &output)
        return nil
    }
}
