/// The options as given: arguments first, then variables, then defaults.
package struct ParsedOptions: Sendable {
    package let program: String
    private let values: [String: [String]]
    /// What is not an option, in order.
    package let operands: [String]

    init(program: String, values: [String: [String]], operands: [String]) {
        self.program = program
        self.values = values
        self.operands = operands
    }

    package func isSet(_ name: String) -> Bool { values[name] != nil }
    package func strings(_ name: String) -> [String] { values[name] ?? [] }
    package func string(_ name: String) -> String? { values[name]?.last }

    /// The option's text, or a usage failure that names it.
    package func required(_ name: String) throws(Failure) -> String {
        guard let value = string(name), !value.isEmpty else {
            throw Failure(.usage, "--\(name) is missing", remedy: "see \(program) --help")
        }
        return value
    }

    /// The option as a whole number within `range`, or `nil` when it is not given.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let text = string(name) else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw Failure(
                .usage,
                "--\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound), "
                    + "not \(GivenText.quoted(text))",
                remedy: "see \(program) --help")
        }
        return value
    }
}
