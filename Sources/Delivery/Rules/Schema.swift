/// A field of a message type.
package struct Field: Sendable {
    /// The name in the protocol definition, such as `collapse_key`; keys of free JSON have only this one.
    package let name: String
    /// The name in proto3's JSON, such as `collapseKey`.
    package let camelName: String
    package let type: FieldType
    let rule: TextRule
    let isRequired: Bool
    let needs: String?

    init(
        _ name: String, _ type: FieldType, _ rule: TextRule = .none, isRequired: Bool = false, needs: String? = nil
    ) {
        self.name = name
        self.type = type
        self.rule = rule
        self.isRequired = isRequired
        self.needs = needs
        camelName = Self.camelCase(name)
    }

    /// Whether its text must stay out of error texts.
    var isSecret: Bool {
        if case .target(let kind) = rule { return kind == .token || kind == .fid }
        return name == "live_activity_token"
    }

    /// proto3's rule: an underscore goes, the letter after it becomes upper case.
    private static func camelCase(_ name: String) -> String {
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
        needs = fields.map { field in fields.firstIndex { $0.name == field.needs } ?? -1 }
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
            let name = index % 2 == 0 || isOpen ? field.name : field.camelName
            if key.string.withContents(in: bytes, { ASCII.equal($0, name) }) { return index / 2 }
        }
        return nil
    }

    /// The index of a field by its name in the protocol definition; nil if the type has no such field.
    func index(named name: String) -> Int? { fields.firstIndex { $0.name == name } }
}
