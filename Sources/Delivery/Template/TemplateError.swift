/// Why a template cannot be used, with the place in its text where that is known.
package struct TemplateError: Error, Equatable, Sendable {
    /// Where in the template's text, counted from 1; `nil` when the fault has no single place.
    package let position: TemplatePosition?
    /// What is wrong.
    package let reason: String
    /// What to do about it.
    package let remedy: String

    package init(_ reason: String, at position: TemplatePosition? = nil, remedy: String) {
        self.position = position
        self.reason = reason
        self.remedy = remedy
    }
}

/// A place in the template's text: line and column, both from 1; the column counts Unicode scalars.
package struct TemplatePosition: Equatable, Sendable, CustomStringConvertible {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package var description: String { "line \(line) column \(column)" }
}
