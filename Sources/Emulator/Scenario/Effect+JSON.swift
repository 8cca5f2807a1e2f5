import Delivery

/// Reading an effect: the key that names it, and those that go with it.
extension Effect {
    private static let names = [
        "error", "status", "latency", "stall", "drip", "reset", "refuse_stream", "goaway", "settings",
    ]

    init(_ node: ScenarioNode) throws(ScenarioError) {
        let named = try node.members().map(\.key).filter(Self.names.contains)
        guard let name = named.first, named.count == 1 else {
            throw node.error(
                named.isEmpty ? "names no effect" : "names \(named.count) effects: \(named.joined(separator: ", "))",
                "use one of \(Self.names.joined(separator: ", ")); one rule for each effect")
        }
        switch name {
        case "error": self = try Self.error(node)
        case "status": self = try Self.status(node)
        case "latency": self = .latency(try Latency(try Self.only("latency", node)))
        case "stall":
            let keys = try node.object("stall", "when")
            try keys["stall"]?.mark()
            self = .stall(try Self.when(keys))
        case "drip": self = try Self.drip(try Self.only("drip", node))
        case "reset": self = try Self.reset(node)
        case "refuse_stream":
            try Self.only("refuse_stream", node).mark()
            self = .refuseStream
        case "goaway": self = try Self.goAway(try Self.only("goaway", node))
        default: self = try Self.settings(try Self.only("settings", node))
        }
    }

    /// A ready-made answer.
    static func namedAnswer(_ node: ScenarioNode, retryAfter: Int?) throws(ScenarioError) -> MadeUpAnswer {
        let name = try node.string()
        guard let answer = NamedError.answer(name, retryAfter: retryAfter) else {
            throw node.error(
                "\"\(name.prefix(30))\" is no error that is known here",
                "use one of \(NamedError.names.joined(separator: ", ")), or \"status\" with \"body\"")
        }
        return answer
    }

    private static func only(_ name: String, _ node: ScenarioNode) throws(ScenarioError) -> ScenarioNode {
        guard let child = try node.object(name)[name] else { throw node.error("names no effect", "use \"\(name)\"") }
        return child
    }

    private static func when(_ keys: [String: ScenarioNode]) throws(ScenarioError) -> When {
        try keys["when"]?.choice() ?? .beforeAccept
    }

    private static func error(_ node: ScenarioNode) throws(ScenarioError) -> Effect {
        let keys = try node.object("error", "retry_after", "when")
        let retryAfter = try keys["retry_after"]?.integer(0...31_536_000)
        guard let name = keys["error"] else { throw node.error("names no effect", "use \"error\"") }
        return .answer(try namedAnswer(name, retryAfter: retryAfter), try when(keys))
    }

    private static func status(_ node: ScenarioNode) throws(ScenarioError) -> Effect {
        let keys = try node.object("status", "headers", "body", "retry_after", "when")
        var head = AnswerHead(status: try keys["status"]?.integer(200...599) ?? 200)
        head.retryAfter = try keys["retry_after"]?.integer(0...31_536_000)
        if let node = keys["headers"] {
            for member in try node.members() {
                let child = ScenarioNode(path: "\(node.path).\(member.key)", value: member.value)
                head.extra.append(
                    AnswerHead.Field(name: try headerName(member.key, child), value: try headerValue(child)))
            }
        }
        var body: [UInt8] = []
        switch keys["body"]?.value {
        case nil: break
        case .string(let text): body = [UInt8](text.utf8)
        case let value?: value.writeIndented(to: &body)
        }
        return .answer(MadeUpAnswer(name: "status", head: head, body: body), try when(keys))
    }

    /// Names that HTTP/2 takes, other than those that the server sets itself.
    private static func headerName(_ name: String, _ node: ScenarioNode) throws(ScenarioError) -> String {
        let lower = name.lowercased()
        let isToken =
            !lower.isEmpty
            && lower.utf8.allSatisfy {
                $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0)
            }
        let own = ["connection", "content-length", "keep-alive", "transfer-encoding", "upgrade", "proxy-connection"]
        guard isToken, !own.contains(lower) else {
            throw node.error("is no header that may be set", "take it out, or correct its name")
        }
        return lower
    }

    private static func headerValue(_ node: ScenarioNode) throws(ScenarioError) -> String {
        let value = try node.string()
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), value.first != " ", value.last != " " else {
            throw node.error("has characters that a header may not have", "leave out line breaks and outer spaces")
        }
        return value
    }

    private static func drip(_ node: ScenarioNode) throws(ScenarioError) -> Effect {
        let keys = try node.object("bytes", "every")
        return .drip(
            bytes: try keys["bytes"]?.integer(1...1_000_000) ?? 1,
            every: try keys["every"]?.milliseconds(from: 1) ?? 100_000_000)
    }

    private enum Thing: String, CaseIterable { case stream, connection }

    private static func reset(_ node: ScenarioNode) throws(ScenarioError) -> Effect {
        let keys = try node.object("reset", "when", "by", "code")
        switch try keys["reset"]?.choice(Thing.self) ?? .stream {
        case .connection:
            if let code = keys["code"] { throw code.error("belongs to streams", "take it out") }
            return .resetConnection(try keys["by"]?.choice() ?? .rst, try when(keys))
        case .stream:
            if let by = keys["by"] { throw by.error("belongs to connections", "take it out") }
            // INTERNAL_ERROR, which is what servers send when something behind them broke.
            return .resetStream(code: UInt32(try keys["code"]?.integer(0...13) ?? 2), try when(keys))
        }
    }

    private static func goAway(_ node: ScenarioNode) throws(ScenarioError) -> Effect {
        let keys = try node.object("last_stream", "debug")
        var debug: [UInt8] = []
        switch keys["debug"]?.value {
        case nil: break
        case .string(let text): debug = [UInt8](text.utf8)
        case let value?: value.write(into: &debug)
        }
        return .goAway(try keys["last_stream"]?.choice() ?? .this, debugData: debug)
    }

    private static func settings(_ node: ScenarioNode) throws(ScenarioError) -> Effect {
        let keys = try node.object("max_streams", "for")
        guard let count = keys["max_streams"] else { throw node.error("has no \"max_streams\"", "give a number") }
        return .limitStreams(try count.integer(0...100_000), for: try keys["for"]?.milliseconds(from: 1))
    }
}

extension Latency {
    fileprivate init(_ node: ScenarioNode) throws(ScenarioError) {
        let keys = try node.object("fixed", "uniform", "long_tail")
        guard keys.count == 1 else {
            throw node.error("must have exactly one key", "use \"fixed\", \"uniform\" or \"long_tail\"")
        }
        if let node = keys["uniform"] {
            let ends = try node.array()
            guard ends.count == 2 else { throw node.error("must have two numbers", "write [from, to] in milliseconds") }
            let (low, high) = (try ends[0].milliseconds(), try ends[1].milliseconds())
            guard low <= high else { throw node.error("ends before it begins", "put the smaller number first") }
            self = .uniform(low, high)
        } else if let node = keys["long_tail"] {
            let keys = try node.object("median", "p99")
            guard let median = keys["median"], let p99 = keys["p99"] else {
                throw node.error("needs \"median\" and \"p99\"", "give both in milliseconds")
            }
            self = .longTail(median: try median.milliseconds(from: 1), p99: try p99.milliseconds(from: 1))
            guard case .longTail(let low, let high) = self, low <= high else {
                throw node.error("has a p99 below its median", "put the smaller number into \"median\"")
            }
        } else if let node = keys["fixed"] {
            self = .fixed(try node.milliseconds())
        } else {
            throw node.error("names no distribution", "use \"fixed\", \"uniform\" or \"long_tail\"")
        }
    }
}
