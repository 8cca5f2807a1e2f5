import Delivery

/// A scenario together with the JSON that it was read from.
struct ScenarioFile: Sendable {
    /// The members of the file that can be changed one by one.
    enum Part: String, CaseIterable, Sendable { case quota, targets, rules, server, token }

    static let empty = ScenarioFile()

    let scenario: Scenario
    private let tree: JSONValue

    private init() {
        scenario = Scenario()
        tree = .object([])
    }

    /// Reads the whole file.
    init(_ json: [UInt8]) throws(ScenarioError) {
        try self.init(tree: Self.parse(json, path: ""))
    }

    private init(tree: JSONValue) throws(ScenarioError) {
        scenario = try Scenario(tree: tree)
        self.tree = tree
    }

    /// The file with another value for a part; `null` takes the part out.
    func replacing(_ part: Part, _ json: [UInt8]) throws(ScenarioError) -> ScenarioFile {
        let value = try Self.parse(json, path: part.rawValue)
        var changed = tree
        changed[part.rawValue] = value == .null ? nil : value
        return try ScenarioFile(tree: changed)
    }

    /// The file, indented.
    var json: [UInt8] {
        var bytes: [UInt8] = []
        tree.writeIndented(to: &bytes)
        return bytes
    }

    private static func parse(_ json: [UInt8], path: String) throws(ScenarioError) -> JSONValue {
        do {
            return try JSONValue.parse(json.span)
        } catch {
            throw ScenarioError(path: path, problem: "is not JSON: \(error)", remedy: "correct it there")
        }
    }
}
