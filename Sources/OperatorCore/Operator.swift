import Operations

/// The program behind `todoke`: finds the subcommand and runs it.
package enum Operator {
    static let commands: [Subcommand] = [
        .migrate, .retry, .cancel, .pause, .resume, .purge, .devicesImport, .devicesExport, .devicesSweep, .lint,
        .explain,
    ]

    /// Gives back the process's exit code; `arguments` starts with the program's own name.
    package static func run(arguments: [String], environment: [String: String]) -> Int32 {
        let program = arguments.first ?? "todoke"
        let rest = arguments.dropFirst()
        switch rest.first {
        case nil:
            StandardStream.error.write(help)
            return ExitCode.usage.rawValue
        case "--help", "-h":
            StandardStream.output.write(help)
            return ExitCode.ok.rawValue
        case "help":
            return run(
                arguments: [program] + rest.dropFirst().prefix(2) + ["--help"],
                environment: environment)
        case "--version":
            StandardStream.output.writeLine("todoke \(Version.current)")
            return ExitCode.ok.rawValue
        case let first?:
            // `todoke devices import`: what is done to one kind of thing shares its first word.
            let words = groups.contains(first) ? Array(rest.prefix(2)) : [first]
            let name = words.joined(separator: " ")
            if words.count == 1 || words[1] == "--help" || words[1] == "-h", groups.contains(first) {
                (words.count == 1 ? StandardStream.error : .output).write(help(of: first))
                return (words.count == 1 ? ExitCode.usage : .ok).rawValue
            }
            guard let command = commands.first(where: { $0.name == name }) else {
                StandardStream.error.writeLine("todoke: \(unknown(name).line)")
                return ExitCode.usage.rawValue
            }
            let context = Subcommand.Context(program: program, environment: environment)
            return Program.run(
                command.options, arguments: ["todoke \(name)"] + rest.dropFirst(words.count), environment: environment
            ) { try command.run($0, context) }
        }
    }

    /// The first words of subcommands that have two.
    private static var groups: Set<String> {
        Set(commands.compactMap { $0.name.contains(" ") ? $0.name.split(separator: " ").first.map(String.init) : nil })
    }

    static func unknown(_ name: String) -> Failure {
        if name.hasPrefix("-") {
            return Failure(
                .usage, "the subcommand comes before the options, and \(GivenText.quoted(name)) is not one",
                remedy: "see todoke --help")
        }
        let closest = commands.map { ($0.name, editDistance($0.name, name)) }.min { $0.1 < $1.1 }
        var suggestion = ""
        if let closest, closest.1 <= max(2, name.count / 3) { suggestion = " (did you mean \(closest.0)?)" }
        return Failure(.usage, "unknown subcommand \(GivenText.quoted(name))\(suggestion)", remedy: "see todoke --help")
    }

    static var help: String {
        """
        todoke: the operator's tool

        Usage: todoke SUBCOMMAND [OPTIONS]

        Subcommands:
        \(list(commands))

        `todoke SUBCOMMAND --help` shows its options; --version the version.

        """
    }

    private static func help(of group: String) -> String {
        """
        Usage: todoke \(group) SUBCOMMAND [OPTIONS]

        Subcommands:
        \(list(commands.filter { $0.name.hasPrefix(group + " ") }))

        `todoke \(group) SUBCOMMAND --help` shows its options.

        """
    }

    private static func list(_ commands: [Subcommand]) -> String {
        let width = commands.map(\.name.count).max() ?? 0
        return commands.map { command in
            "  " + command.name + String(repeating: " ", count: width - command.name.count + 2)
                + command.options.summary
        }.joined(separator: "\n")
    }
}
