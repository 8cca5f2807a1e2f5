/// A template as a flat list of operations over one pool of bytes: what a row runs through.
struct TemplateProgram: Sendable {
    enum Operation: Equatable, Sendable {
        /// Copy these bytes of the pool.
        case literal(start: Int, end: Int)
        /// The column's value, escaped for the inside of a JSON string.
        case column(Int)
        /// A value that filters change: its number in `values`.
        case filtered(Int)
        /// A comma, unless nothing stands in the object yet.
        case separator
        /// Jump when all these columns (a range of `conditions`) are empty in the row.
        case skipIfEmpty(first: Int, end: Int, to: Int)
        /// The digits of the moment the message expires.
        case expiration
    }

    /// A column's value on its way through its filters.
    struct Value: Equatable, Sendable {
        let column: Int
        let steps: [Step]
    }

    enum Step: Equatable, Sendable {
        case fallback([UInt8])
        case upper
        case lower
        case truncate(Int)
        case number
        case date(DatePattern, Zone)
        case urlEncode
    }

    enum Zone: Equatable, Sendable {
        case named(String)
        case column(Int)
    }

    private(set) var pool: [UInt8] = []
    private(set) var values: [Value] = []
    private(set) var operations: [Operation] = []
    private(set) var conditions: [Int] = []
    /// Names of the columns, by number.
    private(set) var columns: [String] = []
    /// Jumps land here: what follows must not be merged into the operation before.
    private var barrier = 0

    init(_ message: TemplateObject) {
        append(.object(message))
    }

    private mutating func append(_ node: TemplateNode) {
        switch node {
        case .raw(let text): literal(text)
        case .text(let text):
            if !text.isNumber { literal("\"") }
            for piece in text.pieces {
                switch piece {
                case .literal(let text): escaped(text)
                case .placeholder(let placeholder): append(placeholder)
                }
            }
            if !text.isNumber { literal("\"") }
        case .expiration:
            literal("\"")
            operations.append(.expiration)
            literal("\"")
        case .array(let nodes):
            literal("[")
            for (index, node) in nodes.enumerated() {
                if index > 0 { literal(",") }
                append(node)
            }
            literal("]")
        case .object(let object): append(object)
        }
    }

    private mutating func append(_ object: TemplateObject) {
        literal("{")
        // A member that is always there settles whether the next one needs a comma.
        var mayBeFirst = true
        var isFirst = true
        for member in object.members {
            var skip: Int?
            if let presence = member.presence {
                // A text without any column and any letter is never there.
                if !presence.isChanging { continue }
                skip = operations.count
                let first = conditions.count
                for placeholder in presence.placeholders { conditions.append(number(of: placeholder.column)) }
                operations.append(.skipIfEmpty(first: first, end: conditions.count, to: 0))
            }
            if !isFirst {
                if mayBeFirst { operations.append(.separator) } else { literal(",") }
            }
            isFirst = false
            literal("\"")
            escaped(member.key)
            literal("\":")
            append(member.value)
            if let skip, case .skipIfEmpty(let first, let end, _) = operations[skip] {
                operations[skip] = .skipIfEmpty(first: first, end: end, to: operations.count)
                barrier = operations.count
            } else {
                mayBeFirst = false
            }
        }
        literal("}")
    }

    private mutating func append(_ placeholder: TemplatePlaceholder) {
        let column = number(of: placeholder.column)
        let steps = placeholder.filters.compactMap { step($0) }
        guard !steps.isEmpty else {
            operations.append(.column(column))
            return
        }
        operations.append(.filtered(values.count))
        values.append(Value(column: column, steps: steps))
    }

    /// What a filter does; `nil` for one that does nothing to a value.
    private mutating func step(_ filter: TemplateFilter) -> Step? {
        switch filter {
        case .fallback(let text): .fallback(Array(text.utf8))
        case .upper: .upper
        case .lower: .lower
        case .truncate(let count): .truncate(count)
        case .number: .number
        case .date(let pattern, .named(let zone)): .date(pattern, .named(zone))
        case .date(let pattern, .column(let name)): .date(pattern, .column(number(of: name)))
        case .urlEncode: .urlEncode
        case .omit: nil
        }
    }

    /// A value that the column's filters take, for a look at the template without any row.
    func probe(_ column: Int) -> String {
        for value in values {
            for step in value.steps {
                switch step {
                case .date(_, .column(column)): return "UTC"
                case .number where value.column == column, .date where value.column == column: return "1"
                default: continue
                }
            }
        }
        return "x"
    }

    /// The zones that the template names itself.
    var zones: Set<String> {
        Set(
            values.flatMap(\.steps).compactMap {
                if case .date(_, .named(let zone)) = $0 { zone } else { nil }
            })
    }

    private mutating func literal(_ text: String) {
        let start = pool.count
        pool.append(contentsOf: text.utf8)
        added(from: start)
    }

    private mutating func escaped(_ text: String) {
        let start = pool.count
        appendJSONEscaped(Array(text.utf8).span, into: &pool)
        added(from: start)
    }

    private mutating func added(from start: Int) {
        if operations.count > barrier, case .literal(let first, start)? = operations.last {
            operations[operations.count - 1] = .literal(start: first, end: pool.count)
        } else if pool.count > start {
            operations.append(.literal(start: start, end: pool.count))
        }
    }

    private mutating func number(of name: String) -> Int {
        if let index = columns.firstIndex(of: name) { return index }
        columns.append(name)
        return columns.count - 1
    }
}
