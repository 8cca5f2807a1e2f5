/// Something a person has to see: what happened, what to do about it, and how the program ends.
///
/// Neither text may hold a secret or a whole device token.
package struct Failure: Error, Equatable, Sendable {
    package let exit: ExitCode
    package let what: String
    package let remedy: String

    package init(_ exit: ExitCode, _ what: String, remedy: String) {
        self.exit = exit
        self.what = what
        self.remedy = remedy
    }

    /// Both parts on one line, control characters made visible so that it stays one.
    package var line: String {
        var text = ""
        for scalar in "\(what); \(remedy)".unicodeScalars {
            if scalar.value < 0x20 || scalar.value == 0x7F {
                text += scalar == "\n" ? " " : "?"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
