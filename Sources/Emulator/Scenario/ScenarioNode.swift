import Delivery

/// A value of the scenario's JSON with its path: every question it is asked answers or says what is wrong where.
struct ScenarioNode {
    let path: String
    let value: JSONValue

    func error(_ problem: String, _ remedy: String) -> ScenarioError {
        ScenarioError(path: path, problem: problem, remedy: remedy)
    }

    /// The members of an object, whatever their keys are.
    func members() throws(ScenarioError) -> [JSONValue.Member] {
        guard case .object(let members) = value else {
            throw error("must be an object; found \(kind)", "write {\"name\": value}")
        }
        return members
    }

    /// The members of an object that may have these keys and no others.
    func object(_ allowed: String...) throws(ScenarioError) -> [String: ScenarioNode] {
        let members = try members()
        var nodes: [String: ScenarioNode] = [:]
        for member in members {
            let child = ScenarioNode(path: path.isEmpty ? member.key : "\(path).\(member.key)", value: member.value)
            guard allowed.contains(member.key) else {
                throw child.error("is not a key here", "use \(Self.list(allowed)), or take it out")
            }
            nodes[member.key] = child
        }
        return nodes
    }

    func array() throws(ScenarioError) -> [ScenarioNode] {
        guard case .array(let values) = value else { throw error("must be an array; found \(kind)", "write […]") }
        return values.enumerated().map { ScenarioNode(path: "\(path)[\($0.offset)]", value: $0.element) }
    }

    func string() throws(ScenarioError) -> String {
        guard case .string(let text) = value else {
            throw error("must be a string; found \(kind)", "write it in double quotes")
        }
        return text
    }

    /// One of the values of an enumeration.
    func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ type: Choice.Type = Choice.self
    ) throws(ScenarioError) -> Choice {
        let names = Choice.allCases.map(\.rawValue)
        guard case .string(let text) = value, let choice = Choice(rawValue: text) else {
            throw error("must be one of \(Self.list(names)); found \(shown)", "use one of them")
        }
        return choice
    }

    /// A whole number.
    func integer(_ range: ClosedRange<Int>) throws(ScenarioError) -> Int {
        guard case .number(let text) = value, let number = Int(text), range.contains(number) else {
            throw error(
                "must be a whole number from \(range.lowerBound) to \(range.upperBound); found \(shown)",
                "write such a number without quotes, fraction or exponent")
        }
        return number
    }

    func number(_ range: ClosedRange<Double>) throws(ScenarioError) -> Double {
        guard case .number(let text) = value, let number = Double(text), range.contains(number) else {
            throw error(
                "must be a number from \(Self.short(range.lowerBound)) to \(Self.short(range.upperBound)); found \(shown)",
                "write such a number without quotes")
        }
        return number
    }

    /// `true`, and nothing else: an effect that is not wanted is left out.
    func mark() throws(ScenarioError) {
        guard case .boolean(true) = value else {
            throw error("must be true; found \(shown)", "write true, or take it out")
        }
    }

    func boolean() throws(ScenarioError) -> Bool {
        guard case .boolean(let flag) = value else {
            throw error("must be true or false; found \(shown)", "write one of them without quotes")
        }
        return flag
    }

    /// Milliseconds up to a day, as nanoseconds.
    func milliseconds(from least: Int = 0) throws(ScenarioError) -> Int64 {
        Int64(try integer(least...86_400_000)) * 1_000_000
    }

    /// `[from, to]` in seconds.
    func window() throws(ScenarioError) -> ClosedRange<Double> {
        let ends = try array()
        guard ends.count == 2 else { throw error("must have two numbers", "write [from, to] in seconds") }
        let from = try ends[0].number(0...31_536_000)
        let to = try ends[1].number(0...31_536_000)
        guard from <= to else { throw error("ends before it begins", "put the smaller number first") }
        return from...to
    }

    func pattern() throws(ScenarioError) -> Pattern {
        let text = try string()
        guard !text.isEmpty else { throw error("is empty and fits nothing", "write a name, with * for any characters") }
        return Pattern(text)
    }

    private var kind: String {
        switch value {
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The value as far as it helps, never a long text.
    private var shown: String {
        switch value {
        case .boolean(let flag): "\(flag)"
        case .number(let text): String(text.prefix(30))
        case .string(let text): "\"\(text.prefix(30))\""
        default: kind
        }
    }

    private static func list(_ names: [String]) -> String {
        names.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    private static func short(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int(number)) : String(number)
    }
}
