import Delivery

/// Reading a scenario file: strict, so that a misspelt key is told and not ignored.
extension Scenario {
    /// Reads the whole file; the error names the first place that is wrong.
    init(tree value: JSONValue) throws(ScenarioError) {
        let root = try ScenarioNode(path: "", value: value)
            .object("seed", "limit", "quota", "targets", "rules", "server", "token")
        if let node = root["seed"] { seed = UInt64(try node.integer(0...Int.max)) }
        limit = try root["limit"]?.integer(0...Int.max)
        if let node = root["quota"] { quota = try QuotaSettings(node) }
        for node in try root["targets"]?.array() ?? [] { targets.append(try TargetRule(node)) }
        for (index, node) in (try root["rules"]?.array() ?? []).enumerated() {
            rules.append(try Rule(node, defaultName: "rules[\(index)]"))
        }
        if let node = root["server"] { server = try ServerConditions(node) }
        if let node = root["token"] { try readToken(node) }
        var names: Set<String> = []
        for (index, rule) in rules.enumerated() where !names.insert(rule.name).inserted {
            throw ScenarioError(
                path: "rules[\(index)].name", problem: "\"\(rule.name.prefix(30))\" is the name of an earlier rule",
                remedy: "give each rule a name of its own")
        }
    }

    /// `token.error` and `token.latency` are rules like any other, at the end.
    private mutating func readToken(_ node: ScenarioNode) throws(ScenarioError) {
        let keys = try node.object("error", "latency", "lifetime", "expires_in", "uses")
        token.lifetime = try keys["lifetime"]?.integer(0...86_400)
        token.expiresIn = try keys["expires_in"]?.integer(0...86_400)
        token.uses = try keys["uses"]?.integer(0...Int.max)
        if let latency = keys["latency"] {
            let effect = Effect.latency(.fixed(try latency.milliseconds()))
            rules.append(Rule(name: "token.latency", match: Match(endpoint: .token), effect: effect))
        }
        if let error = keys["error"] {
            let effect = Effect.answer(try Effect.namedAnswer(error, retryAfter: nil), .beforeAccept)
            rules.append(Rule(name: "token.error", match: Match(endpoint: .token), effect: effect))
        }
    }
}

extension QuotaSettings {
    fileprivate init(_ node: ScenarioNode) throws(ScenarioError) {
        let keys = try node.object("messages_per_minute", "burst", "retry_after", "shape")
        guard let rate = keys["messages_per_minute"] else {
            throw node.error("has no \"messages_per_minute\"", "FCM's is 600000")
        }
        messagesPerMinute = try rate.integer(0...1_000_000_000)
        burst = try keys["burst"]?.integer(1...1_000_000_000) ?? max(1, messagesPerMinute)
        retryAfter = try keys["retry_after"]?.integer(0...86_400)
        shape = try keys["shape"]?.choice() ?? .fcmError
    }
}

extension TargetRule {
    fileprivate init(_ node: ScenarioNode) throws(ScenarioError) {
        let keys = try node.object("pattern", "is", "after")
        guard let pattern = keys["pattern"], let fate = keys["is"] else {
            throw node.error(
                "needs \"pattern\" and \"is\"", "for example {\"pattern\": \"dead-*\", \"is\": \"unregistered\"}")
        }
        self.pattern = try pattern.pattern()
        self.fate = try fate.choice()
        after = try keys["after"]?.integer(0...Int.max) ?? 0
    }
}

extension ServerConditions {
    fileprivate init(_ node: ScenarioNode) throws(ScenarioError) {
        let keys = try node.object("close_idle", "refuse_tcp", "certificate", "http", "date_skew")
        if let node = keys["close_idle"] {
            let keys = try node.object("after", "by")
            guard let after = keys["after"] else { throw node.error("has no \"after\"", "give milliseconds") }
            closeIdle = CloseIdle(after: try after.milliseconds(from: 1), by: try keys["by"]?.choice() ?? .fin)
        }
        if let node = keys["refuse_tcp"] {
            let keys = try node.object("between", "by")
            refuseTCP = RefuseTCP(between: try keys["between"]?.window(), by: try keys["by"]?.choice() ?? .refuse)
        }
        certificate = try keys["certificate"]?.choice() ?? .good
        versions = try keys["http"]?.choice() ?? .both
        dateSkew = try keys["date_skew"]?.integer(-31_536_000...31_536_000) ?? 0
    }
}
