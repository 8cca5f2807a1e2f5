extension Template {
    /// What the payload rules find in the template whatever the rows hold.
    ///
    /// Renders a probe row, and leaves out what its values may have caused. A text with a placeholder is judged row by row.
    package func issues() -> [PayloadIssue] {
        var probe = self
        probe.binding = Array(columns.indices)
        var message: [UInt8] = []
        var desk = RenderingDesk(.none)
        probe.render(TemplateRow(columns.indices.map { program.probe($0) }), &desk, into: &message)
        return MessageRules.check(message.span).errors.filter { issue in
            // These are about names, and names hold no placeholders.
            let isAboutNames = [
                "is unknown", "is given twice", "is required", "is reserved", "is a reserved", "needs ",
            ].contains {
                issue.reason.hasPrefix($0)
            }
            if isAboutNames { return true }
            if issue.field == "message" && !hasTarget { return true }
            return !changing.contains { path in
                path == issue.field || path.hasPrefix(issue.field + ".") || path.hasPrefix(issue.field + "[")
            }
        }
    }
}

extension TemplateObject {
    /// The paths of all texts with placeholders, as the payload rules write them.
    ///
    /// A key that is no field of the schema keeps its spelling there, so paths are given in both.
    func changingPaths(_ prefix: [String] = ["message"]) -> [String] {
        members.flatMap { member in
            let names = Set([member.key, Self.snakeCase(member.key)])
            let paths = prefix.flatMap { start in names.map { "\(start).\($0)" } }
            return member.value.changingPaths(paths)
        }
    }

    private static func snakeCase(_ name: String) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            if scalar.properties.isUppercase {
                result += "_" + String(scalar).lowercased()
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension TemplateNode {
    fileprivate func changingPaths(_ paths: [String]) -> [String] {
        switch self {
        case .text(let text): text.isChanging ? paths : []
        case .object(let object): object.changingPaths(paths)
        case .array(let nodes):
            nodes.enumerated().flatMap { index, node in node.changingPaths(paths.map { "\($0)[\(index)]" }) }
        case .raw, .expiration: []
        }
    }
}
