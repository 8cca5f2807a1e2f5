import Delivery

/// Reading a rule.
extension Rule {
    init(_ node: ScenarioNode, defaultName: String) throws(ScenarioError) {
        let keys = try node.object("name", "match", "limit", "effect")
        name = try keys["name"]?.string() ?? defaultName
        limit = try keys["limit"]?.integer(0...Int.max)
        if let node = keys["match"] { match = try Match(node) }
        guard let node = keys["effect"] else {
            throw node.error("has no \"effect\"", "say what happens, for example {\"error\": \"UNAVAILABLE\"}")
        }
        effect = try Effect(node)
        if case .answer(let answer, _) = effect, match.endpoint != .token, NamedError.isOfTokenEndpoint(answer.name) {
            throw ScenarioError(
                path: "\(node.path).error", problem: "only the token endpoint answers \(answer.name)",
                remedy: "add \"match\": {\"endpoint\": \"token\"}")
        }
    }
}

extension Match {
    fileprivate init(_ node: ScenarioNode) throws(ScenarioError) {
        let keys = try node.object(
            "endpoint", "valid", "target", "project", "header", "between", "nth", "every", "probability")
        endpoint = try keys["endpoint"]?.choice() ?? .send
        isValidOnly = try keys["valid"]?.boolean() ?? false
        target = try keys["target"]?.pattern()
        project = try keys["project"]?.pattern()
        between = try keys["between"]?.window()
        nth = try keys["nth"]?.integer(1...Int.max)
        every = try keys["every"]?.integer(1...Int.max)
        probability = try keys["probability"]?.number(0...1)
        if let node = keys["header"] {
            let members = try node.members()
            guard members.count == 1, let member = members.first else {
                throw node.error("must have exactly one header", "for example {\"x-test\": \"a*\"}")
            }
            let value = ScenarioNode(path: "\(node.path).\(member.key)", value: member.value)
            header = (member.key.lowercased(), try value.pattern())
        }
        if endpoint == .token {
            for name in ["valid", "target", "project"] {
                if let present = keys[name] {
                    throw present.error(
                        "a request for a token has none", "take it out, or let \"endpoint\" be \"send\"")
                }
            }
        }
    }
}
