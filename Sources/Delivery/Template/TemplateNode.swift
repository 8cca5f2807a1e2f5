/// A template as a tree, while it is being completed; rendering does not use it.
indirect enum TemplateNode {
    /// A number, `true`, `false` or `null`, as JSON text.
    case raw(String)
    case text(TemplateText)
    case array([TemplateNode])
    case object(TemplateObject)
    /// The moment the message expires, in seconds since 1970, as a JSON string; known only when the run starts.
    case expiration

    init(_ value: JSONValue) throws(TemplateError) {
        switch value {
        case .null: self = .raw("null")
        case .boolean(let flag): self = .raw(flag ? "true" : "false")
        case .number(let text): self = .raw(text)
        case .string(let text): self = .text(try TemplateText(text))
        case .array(let values):
            var nodes: [TemplateNode] = []
            for value in values {
                let node = try TemplateNode(value)
                guard node.text?.omission == nil else {
                    throw TemplateError(
                        "omit inside a list", remedy: "omit leaves out a field of an object; a list keeps its places")
                }
                nodes.append(node)
            }
            self = .array(nodes)
        case .object(let members):
            var object = TemplateObject()
            for member in members {
                let node = try TemplateNode(member.value)
                object.members.append(.init(key: member.key, value: node, presence: node.text?.omission))
            }
            self = .object(object)
        }
    }

    var text: TemplateText? {
        if case .text(let text) = self { text } else { nil }
    }

    var object: TemplateObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// Unset, as JSON for protocol buffers reads `null`.
    var isNull: Bool {
        if case .raw("null") = self { true } else { false }
    }
}

/// An object of a template; members may be left out when a text renders empty.
struct TemplateObject {
    struct Member {
        let key: String
        var value: TemplateNode
        /// The member is written only for rows that render this to something.
        var presence: TemplateText?

        init(key: String, value: TemplateNode, presence: TemplateText? = nil) {
            self.key = key
            self.value = value
            self.presence = presence
        }
    }

    var members: [Member] = []

    /// Where the field is, under its snake_case name or as lowerCamelCase; a `null` counts as not there.
    func index(of name: String) -> Int? {
        let camel = Self.camelCase(name)
        return members.firstIndex { ($0.key == name || $0.key == camel) && !$0.value.isNull }
    }

    subscript(_ name: String) -> TemplateNode? { index(of: name).map { members[$0].value } }

    /// The text at a path of fields, if there is one.
    func text(at path: [String]) -> TemplateText? {
        guard let first = path.first, let node = self[first] else { return nil }
        return path.count == 1 ? node.text : node.object?.text(at: Array(path.dropFirst()))
    }

    /// The object at a path of fields, if there is one.
    func object(at path: [String]) -> TemplateObject? {
        guard let first = path.first else { return self }
        return self[first]?.object?.object(at: Array(path.dropFirst()))
    }

    /// Sets a field in place of one that is there, `null` included.
    mutating func set(_ name: String, _ value: TemplateNode, presence: TemplateText? = nil) {
        let camel = Self.camelCase(name)
        if let index = members.firstIndex(where: { $0.key == name || $0.key == camel }) {
            members[index].value = value
            members[index].presence = presence
        } else {
            members.append(Member(key: name, value: value, presence: presence))
        }
    }

    /// Changes the object at `path`; what is missing on the way is made, present only where `presence` renders to something.
    ///
    /// Where something other than an object stands on the way nothing happens: the payload rules report that.
    mutating func modify(
        _ path: [String], presence: TemplateText? = nil, _ change: (inout TemplateObject) throws(TemplateError) -> Void
    ) throws(TemplateError) {
        guard let first = path.first else {
            try change(&self)
            return
        }
        let rest = Array(path.dropFirst())
        if let index = index(of: first) {
            guard case .object(var inner) = members[index].value else { return }
            try inner.modify(rest, presence: presence, change)
            members[index].value = .object(inner)
        } else {
            var inner = TemplateObject()
            try inner.modify(rest, presence: presence, change)
            set(first, .object(inner), presence: presence)
        }
    }

    /// `fcm_options` as `fcmOptions`.
    static func camelCase(_ name: String) -> String {
        var result = ""
        var raise = false
        for character in name.unicodeScalars {
            if character == "_" {
                raise = true
            } else {
                result += raise ? String(character).uppercased() : String(character)
                raise = false
            }
        }
        return result
    }
}
