import Delivery

extension Explanation {
    /// One object for programs; `line` counts from 1 and is there in a batch only.
    func json(line: Int? = nil) -> JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue) { members.append(.init(key, value)) }
        if let line { add("line", .integer(line)) }
        if let name = given.name { add("name", .string(name)) }
        add("provider", .string(given.provider.rawValue))
        add("status", given.answer.map { .integer($0.status) } ?? .null)
        if let transport = given.transport { add("transport_error", .integer(transport.number)) }
        add("class", .string(verdict.kind.rawValue))
        add("retry_after_s", verdict.retryAfterSeconds.map { .integer($0) } ?? .null)
        add("code", .string(verdict.code))
        add("because", .string(verdict.evidence.rawValue))
        add("hint", .string(verdict.hint))
        add("state", .string(consequence.state.rawValue))
        add("attempt_spent", .boolean(consequence.isAttemptSpent))
        add("due_in_s", dueIn.map { .array([.integer($0.lowerBound), .integer($0.upperBound)]) } ?? .null)
        add("resends", .integer(consequence.resends))
        add("new_credentials", .boolean(consequence.needsNewCredentials))
        add("may_arrive_twice", .boolean(consequence.isDuplicateRisk))
        add("token", .string(consequence.isTokenDead ? "invalid" : "kept"))
        if consequence.isTokenDead {
            add("token_invalid_since_ms", verdict.tokenInvalidSince.map { .integer($0) } ?? .null)
        }
        switch consequence.app {
        case .goesOn: add("app", .string("goes_on"))
        case .waits: add("app", .string("waits"))
        case .breakerOpens: add("app", .string("breaker_opens"))
        case .breakerOpensUnlessOthersSucceed: add("app", .string("breaker_opens_unless_others_succeed"))
        }
        if let id = verdict.providerMessageID { add("provider_message_id", .string(id)) }
        return .object(members)
    }
}

extension LineFault {
    func json(line: Int) -> JSONValue {
        var members = [JSONValue.Member("line", .integer(line))]
        if let name { members.append(.init("name", .string(name))) }
        members.append(.init("error", .string(reason)))
        return .object(members)
    }
}
