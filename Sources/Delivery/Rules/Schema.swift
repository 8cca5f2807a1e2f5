/// A field of a message type; plain data, so that passing it costs nothing.
package struct Field: Sendable {
    let staticName: StaticString
    package let type: FieldType
    let rule: TextRule
    let isRequired: Bool
    let needs: StaticString?
    /// What is worth remembering when the field is set.
    let fact: MessageFact?

    init(
        _ name: StaticString, _ type: FieldType, _ rule: TextRule = .none, isRequired: Bool = false,
        needs: StaticString? = nil, fact: MessageFact? = nil
    ) {
        staticName = name
        self.type = type
        self.rule = rule
        self.isRequired = isRequired
        self.needs = needs
        self.fact = fact
    }

    /// The name in the protocol definition, such as `collapse_key`; keys of free JSON have only this one.
    package var name: String { staticName.description }

    /// The name in proto3's JSON, such as `collapseKey`: an underscore goes, the letter after it becomes upper case.
    package var camelName: String {
        var result = ""
        var raisesNext = false
        for character in name {
            if character == "_" {
                raisesNext = true
            } else {
                result += raisesNext ? character.uppercased() : String(character)
                raisesNext = false
            }
        }
        return result
    }

    /// Whether its text must stay out of error texts.
    var isSecret: Bool {
        if case .target(let kind) = rule { return kind == .token || kind == .fid }
        return fact == .liveActivity
    }

    /// Whether the key is `camelName`, without making that name.
    func isCamelName(_ key: Span<UInt8>) -> Bool {
        var index = 0
        var raisesNext = false
        for position in 0..<staticName.utf8CodeUnitCount {
            // The pointer is to a literal and the position within it.
            var byte = staticName.utf8Start[position]
            if byte == UInt8(ascii: "_") {
                raisesNext = true
                continue
            }
            if raisesNext && ASCII.isLetter(byte) { byte &= 0xDF }
            raisesNext = false
            guard index < key.count, key[index] == byte else { return false }
            index += 1
        }
        return index == key.count
    }
}

/// A message type: its fields, found by name without a comparison per field.
package final class Schema: Sendable {
    package let id: SchemaID
    /// At most 64: the checker keeps what it has seen in one word.
    package let fields: [Field]
    /// Whether other keys may appear: true inside free JSON only.
    package let isOpen: Bool
    /// Bit `i` is set when field `i` must be set.
    let required: UInt64
    /// For each field the index of the one that must be set with it, or -1.
    let needs: [Int]

    /// Two hashes a field: of its name and of its camel-case name.
    private let hashes: [UInt64]

    init(_ id: SchemaID, isOpen: Bool = false, _ fields: [Field]) {
        self.id = id
        self.fields = fields
        self.isOpen = isOpen
        required = fields.indices.reduce(0) { $0 | (fields[$1].isRequired ? 1 << UInt64($1) : 0) }
        needs = fields.map { field in
            field.needs.flatMap { needed in fields.firstIndex { $0.name == needed.description } } ?? -1
        }
        hashes = fields.flatMap { field in
            let name = Array(field.name.utf8)
            let camel = Array((isOpen ? field.name : field.camelName).utf8)
            return [JSONKey.hash(name.span), JSONKey.hash(camel.span)]
        }
    }

    /// The index of the field that a key names, in either spelling.
    func index(of key: JSONKey, in bytes: Span<UInt8>) -> Int? {
        for index in 0..<hashes.count where hashes[index] == key.hash {
            let field = fields[index / 2]
            let isSame = key.string.withContents(in: bytes) { name in
                index % 2 == 0 || isOpen ? ASCII.equal(name, field.staticName) : field.isCamelName(name)
            }
            if isSame { return index / 2 }
        }
        return nil
    }

    /// The index of a field by its name in the protocol definition; nil if the type has no such field.
    func index(named name: String) -> Int? { fields.firstIndex { $0.name == name } }
}
