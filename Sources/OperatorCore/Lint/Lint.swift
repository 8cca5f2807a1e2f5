import Operations

extension Subcommand {
    /// `todoke lint`: whether messages would be accepted, and what is wrong with those that would not.
    static let lint = Subcommand(
        name: "lint",
        options: OptionTable(
            program: "todoke lint",
            summary: "Checks FCM v1 messages against the published schema and the rules beyond it.",
            usage: "todoke lint [options] [FILE...]",
            options: [
                Option(
                    "expires-in", "SECONDS",
                    help: "When the messages are of no more use: warns about a longer time to live."),
                Option("strict", help: "Warnings count as errors."),
                Option("quiet", help: "Print only what is wrong, and no summary."),
                .json,
            ],
            example: """
                todoke lint messages.ndjson
                echo '{"message": {"topic": "news", "android": {"ttl": "5m"}}}' | todoke lint --json -
                """,
            operands: "FILE"),
        run: lint)

    private static func lint(_ options: ParsedOptions, _ context: Context) throws(Failure) -> ExitCode {
        let expiresIn = try options.integer("expires-in", in: 1...315_360_000)
        let paths = options.operands.isEmpty ? ["-"] : options.operands
        guard paths.filter({ $0 == "-" }).count <= 1 else {
            throw Failure(.usage, "standard input can be read once only", remedy: "give - once")
        }
        let output = BufferedOutput(StandardStream.output)
        defer { output.flush() }
        let form = LintForm(
            isJSON: options.isSet("json"), isQuiet: options.isSet("quiet"), namesFile: paths.count > 1,
            hasColour: StandardStream.output.isTerminal && context.environment["NO_COLOR", default: ""].isEmpty
                && context.environment["TERM"] != "dumb")
        var counts = LintCounts()
        for path in paths {
            let file = try InputFile(path, remedy: "name files of messages, or - for standard input")
            var documents = DocumentReader(file.bytes(willRead: output.flush))
            while let document = try documents.next() {
                let result = LintResult(document, expiresIn: expiresIn)
                counts.add(result)
                if let line = form.line(for: result, path: path) { output.writeLine(line) }
            }
        }
        try output.finish()
        if !form.isQuiet { StandardStream.error.writeLine(counts.summary) }
        return counts.invalid > 0 || (options.isSet("strict") && counts.warned > 0) ? .data : .ok
    }
}

/// How many messages were how.
struct LintCounts {
    private(set) var valid = 0
    private(set) var invalid = 0
    /// Those of both with warnings.
    private(set) var warned = 0

    mutating func add(_ result: LintResult) {
        if result.isValid { valid += 1 } else { invalid += 1 }
        if !result.warnings.isEmpty { warned += 1 }
    }

    /// One line for a person.
    var summary: String {
        let total = valid + invalid
        return "\(total) \(total == 1 ? "message" : "messages"): \(valid) valid, \(invalid) invalid, "
            + "\(warned) with warnings"
    }
}
