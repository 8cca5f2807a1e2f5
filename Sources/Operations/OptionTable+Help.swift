extension OptionTable {
    /// The text of `--help`: usage, every option with its default and variable, an example.
    package var helpText: String {
        var text = "\(program): \(summary)\n\nUsage: \(usage)\n\nOptions:\n"
        for option in options {
            let flag = option.placeholder.map { "--\(option.name) \($0)" } ?? "--\(option.name)"
            var help = option.help
            if option.isRepeatable { help += " May be repeated." }
            if let value = option.defaultValue { help += " Default: \(value)." }
            if !option.isOnLineOnly { help += " [\(option.environmentName)]" }
            text += Self.entry(flag, help)
        }
        text += Self.entry("--help", "Show this.")
        text += Self.entry("--version", "Show the version.")
        text += "\nExample:\n"
        for line in example.split(separator: "\n") { text += "  \(line)\n" }
        text +=
            "\nExit codes: 0 done, 64 usage, 65 input data, 69 unreachable, 70 a fault of the program, 75 run again later,\n78 configuration.\n"
        return text
    }

    private static func entry(_ flag: String, _ help: String) -> String {
        let indent = 28
        var text = "  " + flag
        var column = text.count
        if column + 1 > indent {
            text += "\n"
            column = 0
        }
        for word in help.split(separator: " ") {
            if column + 1 + word.count > 110 {
                text += "\n"
                column = 0
            }
            if column < indent {
                text += String(repeating: " ", count: indent - column)
                column = indent
            } else {
                text += " "
                column += 1
            }
            text += word
            column += word.count
        }
        return text + "\n"
    }
}
