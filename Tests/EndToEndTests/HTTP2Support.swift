import Foundation
import Testing

extension Pipeline {
    /// With a scenario for the emulator, as JSON.
    convenience init(scenario: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("todoke-scenario-\(UUID()).json")
        try Data(scenario.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try self.init(faults: ["--scenario", file.path])
    }

    /// Asks the emulator's control API, and waits as long as it does.
    @discardableResult
    func control(_ path: String) throws -> [String: Any] {
        let address = try String(contentsOf: directory.appendingPathComponent("control"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let ended = try RunningProgram(
            path: "/usr/bin/curl", "curl",
            ["--silent", "--show-error", "--fail", "--noproxy", "*", "--max-time", "100", address + path], input: nil,
            [:]
        ).end()
        guard ended.exitCode == 0 else { throw Late(description: "\(path): \(ended.story)") }
        let json = try JSONSerialization.jsonObject(with: Data(ended.output.utf8))
        return json as? [String: Any] ?? [:]
    }

    /// A number of the emulator's `/stats` by its dotted path.
    func emulated(_ path: String) throws -> Int {
        var value: Any? = try control("/stats")
        for name in path.split(separator: ".") { value = (value as? [String: Any])?[String(name)] }
        return value as? Int ?? 0
    }

    /// How many posts may have arrived twice, by the sender's own count.
    func duplicateRisk() throws -> Int {
        try number("SELECT coalesce(sum(duplicate_risk), 0) FROM todoke.senders")
    }

    /// Every message was sent, no attempt was spent, and what arrived more than once was counted.
    ///
    /// - Returns: second arrivals.
    @discardableResult
    func expectAllSent(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) throws -> Int {
        #expect(try states() == ["sent": count], sourceLocation: sourceLocation)
        #expect(
            try number("SELECT coalesce(max(attempts), 0) FROM todoke.messages") == 0,
            "an attempt was spent on a fault of the connection", sourceLocation: sourceLocation)
        let arrivals = try arrivalsByToken()
        #expect(arrivals.count == count, sourceLocation: sourceLocation)
        let extra = arrivals.values.reduce(0) { $0 + $1 - 1 }
        let counted = try duplicateRisk()
        #expect(extra <= counted, sourceLocation: sourceLocation)
        return extra
    }
}
