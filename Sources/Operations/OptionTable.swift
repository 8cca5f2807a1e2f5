/// What a program understands: the one source for parsing and for `--help`.
package struct OptionTable: Sendable {
    package let program: String
    package let summary: String
    package let usage: String
    package let options: [Option]
    package let example: String
    /// The name of the operands, such as `FILE`, or `nil` when there are none.
    package let operands: String?

    package init(
        program: String, summary: String, usage: String, options: [Option], example: String, operands: String? = nil
    ) {
        self.program = program
        self.summary = summary
        self.usage = usage
        self.options = options
        self.example = example
        self.operands = operands
    }

    /// What the arguments ask for.
    package enum Request: Sendable {
        case help
        case version
        case run(ParsedOptions)
    }

    /// Reads arguments (without the program's name) and the environment; an argument wins over its variable.
    ///
    /// Throws a ``Failure`` with ``ExitCode/usage`` that lists every fault at once.
    package func parse(arguments: [String], environment: [String: String]) throws(Failure) -> Request {
        var values: [String: [String]] = [:]
        var operandList: [String] = []
        var faults: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--help" || argument == "-h" { return .help }
            if argument == "--version" { return .version }
            if argument == "--" {
                operandList += rest
                break
            }
            guard argument.hasPrefix("--") else {
                if argument.hasPrefix("-") && argument != "-" {
                    faults.append(
                        "unknown option \(GivenText.insteadOfName(argument) == nil ? argument : "-"): options are long, "
                            + "such as --\(options.first?.name ?? "help")")
                } else {
                    operandList.append(argument)
                }
                continue
            }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts.first ?? "")
            guard let option = options.first(where: { $0.name == name }) else {
                let isName = GivenText.insteadOfName(argument) == nil
                faults.append(isName ? "unknown option --\(name)" + suggestion(for: name) : Self.textOfFile)
                if parts.count == 1, let next = rest.first, !next.hasPrefix("-") { rest.removeFirst() }
                continue
            }
            if option.placeholder == nil {
                if parts.count == 2 { faults.append("--\(name) takes no value") }
                values[name] = ["true"]
            } else if let value = parts.count == 2 ? String(parts[1]) : Self.takeValue(&rest) {
                if values[name] != nil && !option.isRepeatable { faults.append("--\(name) is given twice") }
                values[name, default: []].append(value)
            } else {
                faults.append("--\(name) needs a value (\(option.placeholder ?? ""))")
            }
        }
        if operands == nil, let first = operandList.first {
            faults.append("unexpected argument \(GivenText.quoted(first))")
        }
        for option in options where values[option.name] == nil && !option.isOnLineOnly {
            if let text = environment[option.environmentName], !text.isEmpty {
                values[option.name] = environmentValues(text, of: option, &faults)
            }
        }
        if operands == "FILE" { for text in operandList { Self.checkFileName(text, "FILE", &faults) } }
        for option in options where option.isFileName {
            for text in values[option.name] ?? [] { Self.checkFileName(text, "--\(option.name)", &faults) }
        }
        guard faults.isEmpty else {
            throw Failure(.usage, faults.joined(separator: "; "), remedy: "see \(program) --help")
        }
        for option in options where values[option.name] == nil {
            if let value = option.defaultValue, option.placeholder != nil { values[option.name] = [value] }
        }
        return .run(ParsedOptions(program: program, values: values, operands: operandList))
    }

    private static let textOfFile = "the text of a file stands where an option is expected: give the file's name"

    private static func checkFileName(_ text: String, _ option: String, _ faults: inout [String]) {
        do { try GivenText.checkFileName(text, option: option) } catch { faults.append(error.what) }
    }

    /// The next argument, unless it is an option itself: `--app --drain` lacks a name, `--app=--drain` has one.
    private static func takeValue(_ rest: inout ArraySlice<String>) -> String? {
        guard let next = rest.first, !next.hasPrefix("--") else { return nil }
        return rest.popFirst()
    }

    private func environmentValues(_ text: String, of option: Option, _ faults: inout [String]) -> [String]? {
        if option.placeholder == nil {
            switch text.lowercased() {
            case "1", "true", "yes", "on": return ["true"]
            case "0", "false", "no", "off": return nil
            default:
                faults.append("\(option.environmentName) is a switch: true or false, not \(GivenText.quoted(text))")
                return nil
            }
        }
        // The commas of JSON do not separate names of files.
        guard option.isRepeatable, !option.isFileName || GivenText.insteadOfName(text) == nil else { return [text] }
        return text.split(separator: ",").map(String.init)
    }

    private func suggestion(for name: String) -> String {
        let close = options.map { ($0.name, editDistance($0.name, name)) }.min { $0.1 < $1.1 }
        guard let close, close.1 <= max(2, name.count / 3) else { return "" }
        return " (did you mean --\(close.0)?)"
    }
}

/// The Levenshtein distance, for suggestions; quadratic in the names' lengths.
package func editDistance(_ left: String, _ right: String) -> Int {
    let right = Array(right.utf8)
    var row = Array(0...right.count)
    for (index, byte) in left.utf8.enumerated() {
        var previous = row[0]
        row[0] = index + 1
        for column in right.indices {
            let substituted = previous + (right[column] == byte ? 0 : 1)
            previous = row[column + 1]
            row[column + 1] = min(substituted, row[column] + 1, row[column + 1] + 1)
        }
    }
    return row[right.count]
}
