import Foundation

/// The emulator's control API, asked by Debian's curl.
struct EmulatorControl {
    let url: String

    /// A number of `/stats` by its dotted path; 0 for one that does not exist yet, such as an error nobody got.
    func number(_ path: String) throws -> Int {
        var value: Any? = try ask("/stats").json
        for name in path.split(separator: ".") { value = (value as? [String: Any])?[String(name)] }
        return value as? Int ?? 0
    }

    /// How many requests the scenario's rule of that name has hit.
    func hits(of rule: String) throws -> Int {
        let rules = try ask("/stats").json["rules"] as? [[String: Any]] ?? []
        return rules.first { $0["name"] as? String == rule }?["hits"] as? Int ?? 0
    }

    /// What clients did against FCM's guidance, as text for a person.
    func violations() throws -> String { try ask("/violations").body }

    /// Puts a part of the scenario, such as `/rules`, in place.
    func change(_ path: String, to json: String) throws {
        try expect(200, ask(path, "--request", "PUT", "--data", json), "PUT \(path) \(json)")
    }

    /// Removes a part of the scenario: from now on everything there is as it should be.
    func remove(_ path: String) throws {
        try expect(200, ask(path, "--request", "DELETE"), "DELETE \(path)")
    }

    /// Waits until all conditions hold, each as `/wait` takes it: `accepted=1000`, `connections.now<=0`.
    func wait(_ conditions: String..., within limit: TimeInterval = patience) throws {
        let query = conditions.joined(separator: "&")
        let answer = try ask("/wait?\(query)&timeout=\(Int(limit))", patient: limit + 10)
        guard answer.status == 200 else {
            throw Late(description: "the emulator, waiting \(Int(limit)) s for \(query): \(answer.body)")
        }
    }

    /// Whether the number stays below the bound for so many seconds; comes back at once when it does not.
    func staysBelow(_ bound: Int, _ path: String, for seconds: Int) throws -> Bool {
        try ask("/wait?\(path)=\(bound)&timeout=\(seconds)", patient: Double(seconds + 10)).status == 504
    }

    private func expect(_ status: Int, _ answer: Answer, _ request: String) throws {
        guard answer.status == status else { throw Late(description: "\(request): \(answer.status) \(answer.body)") }
    }

    struct Answer {
        let status: Int
        let body: String
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
        }
    }

    private func ask(_ path: String, _ arguments: String..., patient limit: TimeInterval = 30) throws -> Answer {
        let ended = try RunningProgram(
            path: "/usr/bin/curl", "curl",
            ["--silent", "--show-error", "--noproxy", "*", "--write-out", "\n%{http_code}", url + path] + arguments,
            input: nil, [:]
        ).end(within: limit)
        guard ended.exitCode == 0, let end = ended.output.lastIndex(of: "\n"),
            let status = Int(ended.output[end...].dropFirst())
        else { throw Late(description: "the emulator's control API: \(ended.story)") }
        return Answer(status: status, body: String(ended.output[..<end]))
    }
}
