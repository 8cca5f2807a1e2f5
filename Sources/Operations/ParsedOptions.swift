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

    /// The option's text; one that is empty, such as that of an unset shell variable, counts as not given.
    package func given(_ name: String) -> String? { string(name).flatMap { $0.isEmpty ? nil : $0 } }

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

    /// The option as whole seconds within `range`: a number with `s`, `m`, `h` or `d` behind it, or none for seconds.
    ///
    /// `nil` when it is not given.
    package func duration(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let text = string(name) else { return nil }
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        let unit = text.last.flatMap { units[$0] }
        let (seconds, overflow) = (Int(unit == nil ? text : String(text.dropLast())) ?? -1)
            .multipliedReportingOverflow(by: unit ?? 1)
        guard !overflow, seconds >= 0, range.contains(seconds) else {
            throw Failure(
                .usage,
                "--\(name) must be from \(Self.duration(range.lowerBound)) to \(Self.duration(range.upperBound)), in seconds or "
                    + "with s, m, h or d behind it, not \(GivenText.quoted(text))",
                remedy: "see \(program) --help")
        }
        return seconds
    }

    /// In the largest unit that it is a whole number of: `8d`, `90s`.
    private static func duration(_ seconds: Int) -> String {
        let units = [(86_400, "d"), (3_600, "h"), (60, "m")]
        let unit = units.first { seconds > 0 && seconds.isMultiple(of: $0.0) } ?? (1, "s")
        return "\(seconds / unit.0)\(unit.1)"
    }
}
