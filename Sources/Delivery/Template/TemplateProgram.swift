/// A template as a flat list of operations over one pool of bytes: what a row runs through.
struct TemplateProgram: Sendable {
    enum Operation: Equatable, Sendable {
        /// Copy these bytes of the pool.
        case literal(start: Int, end: Int)
        /// The column's value, escaped for the inside of a JSON string.
        case column(Int)
        /// A comma, unless nothing stands in the object yet.
        case separator
        /// Jump when all these columns (a range of `conditions`) are empty in the row.
        case skipIfEmpty(first: Int, end: Int, to: Int)
        /// The digits of the moment the message expires.
        case expiration
    }

    private(set) var pool: [UInt8] = []
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
            literal("\"")
            for piece in text.pieces {
                switch piece {
                case .literal(let text): escaped(text)
                case .column(let name): operations.append(.column(number(of: name)))
                }
            }
            literal("\"")
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
                if presence.columns.isEmpty { continue }
                skip = operations.count
                let first = conditions.count
                for name in presence.columns { conditions.append(number(of: name)) }
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
