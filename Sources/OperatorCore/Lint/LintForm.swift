import Delivery

/// How a result is printed.
struct LintForm {
    let isJSON: Bool
    let isQuiet: Bool
    /// Whether the objects say which file they are about.
    let namesFile: Bool
    let hasColour: Bool

    /// One line for one message; nil when there is nothing to say.
    func line(for result: LintResult, path: String) -> String? {
        if isQuiet && result.isValid && result.warnings.isEmpty { return nil }
        return isJSON ? json(result, path) : text(result, path)
    }

    private func text(_ result: LintResult, _ path: String) -> String {
        func list(_ issues: [PayloadIssue]) -> String { issues.map(\.description).joined(separator: "; ") }
        var line = "\(printable(path)):\(result.line): "
        line += result.isValid ? painted("valid", 32) : painted("invalid", 31) + ": " + list(result.errors)
        if !result.warnings.isEmpty { line += "; " + painted("warning", 33) + ": " + list(result.warnings) }
        return line
    }

    /// The word in a colour of ECMA-48.
    private func painted(_ word: String, _ colour: Int) -> String {
        hasColour ? "\u{1B}[\(colour)m\(word)\u{1B}[0m" : word
    }

    private func json(_ result: LintResult, _ path: String) -> String {
        func list(_ issues: [PayloadIssue]) -> JSONValue {
            .array(issues.map { .object([.init("field", .string($0.field)), .init("reason", .string($0.reason))]) })
        }
        var members: [JSONValue.Member] = namesFile ? [.init("file", .string(path))] : []
        members += [
            .init("line", .number("\(result.line)")), .init("valid", .boolean(result.isValid)),
            .init("errors", list(result.errors)), .init("warnings", list(result.warnings)),
        ]
        return JSONValue.object(members).text
    }
}
