import Delivery
import HTTP1

/// The routes that change how the service behaves: the scenario as a whole, its parts, and single targets.
extension ControlAPI {
    /// Answers if the path is one of theirs.
    func answerScenario(
        _ request: HTTP1Request, _ method: String, _ path: String
    ) throws(ControlError) -> HTTP1Response? {
        let name = String(path.dropFirst())
        if name.hasPrefix("targets/") {
            return try changeTarget(String(name.dropFirst("targets/".count)), method, request)
        }
        if name == "scenario" {
            switch method {
            case "GET": break
            case "DELETE": try adopting { () throws(ScenarioError) in try service.replaceScenario([UInt8]("{}".utf8)) }
            default:
                let body = try body(of: request)
                try adopting { () throws(ScenarioError) in try service.replaceScenario(body) }
            }
            return scenario
        }
        guard let part = ScenarioFile.Part(rawValue: name) else { return nil }
        if method == "GET" { return HTTP1Response(json: try tree()[name] ?? .null) }
        let body = method == "DELETE" ? [UInt8]("null".utf8) : try body(of: request)
        try adopting { () throws(ScenarioError) in try service.edit(part, json: body) }
        return scenario
    }

    /// Starts a part of the scenario from its beginning by putting it in its own place.
    func restart(_ part: ScenarioFile.Part) throws(ControlError) {
        var json: [UInt8] = []
        (try tree()[part.rawValue] ?? .null).write(into: &json)
        try adopting { () throws(ScenarioError) in try service.edit(part, json: json) }
    }

    /// The scenario as it is now: what it answers can be put back.
    private var scenario: HTTP1Response {
        var response = HTTP1Response(json: .null)
        response.body = service.scenarioJSON
        return response
    }

    /// `PUT /targets/PATTERN` with what it is, such as `{"is": "unregistered"}`, and `DELETE`.
    private func changeTarget(
        _ pattern: String, _ method: String, _ request: HTTP1Request
    ) throws(ControlError) -> HTTP1Response {
        var targets: [JSONValue] = []
        if case .array(let known)? = try tree()["targets"] { targets = known }
        let place = targets.firstIndex {
            guard case .string(let text)? = $0["pattern"] else { return false }
            return text == pattern
        }
        if method == "DELETE" {
            guard let place else {
                throw ControlError(
                    404, "there is no target \"\(pattern.prefix(50))\"", remedy: "GET /targets lists them")
            }
            targets.remove(at: place)
        } else {
            let body = try body(of: request)
            guard let value = try? JSONValue.parse(body.span), case .object(let members) = value else {
                throw ControlError(
                    400, "the body is not a JSON object", remedy: "send what the target is: {\"is\": \"unregistered\"}")
            }
            var target = JSONValue.object(members)
            target["pattern"] = .string(pattern)
            if let place { targets[place] = target } else { targets.append(target) }
        }
        var json: [UInt8] = []
        JSONValue.array(targets).write(into: &json)
        try adopting { () throws(ScenarioError) in try service.edit(.targets, json: json) }
        return scenario
    }

    private func tree() throws(ControlError) -> JSONValue {
        guard let tree = try? JSONValue.parse(service.scenarioJSON.span) else {
            throw ControlError(500, "the scenario cannot be read back", remedy: "put it again")
        }
        return tree
    }

    private func body(of request: HTTP1Request) throws(ControlError) -> [UInt8] {
        if request.isBodyCut {
            throw ControlError(413, "the body is longer than 4 MiB", remedy: "use patterns instead of single targets")
        }
        return request.body
    }

    private func adopting(_ change: () throws(ScenarioError) -> Void) throws(ControlError) {
        do throws(ScenarioError) {
            try change()
        } catch {
            throw ControlError(400, "\(error.place): \(error.problem)", remedy: error.remedy)
        }
    }
}
