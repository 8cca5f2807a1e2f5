/// One long flag, which is an environment variable too.
package struct Option: Sendable {
    /// Without the dashes: `database-url`.
    package let name: String
    /// What stands for the value in the help; `nil` makes it a switch without a value.
    package let placeholder: String?
    /// Unit and meaning, one or two sentences.
    package let help: String
    /// Shown in the help and used when neither the flag nor the variable is given.
    package let defaultValue: String?
    /// May be given more than once; the variable then holds a list separated by commas.
    package let isRepeatable: Bool
    /// Has no variable: it says what is to be changed, and one that was set for another program must not.
    package let isOnLineOnly: Bool

    package init(
        _ name: String, _ placeholder: String? = nil, default defaultValue: String? = nil, repeatable: Bool = false,
        onLineOnly: Bool = false, help: String
    ) {
        self.name = name
        self.placeholder = placeholder
        self.help = help
        self.defaultValue = defaultValue
        self.isRepeatable = repeatable
        self.isOnLineOnly = onLineOnly
    }

    /// Its value names a file or a directory.
    var isFileName: Bool { placeholder.map { $0.hasSuffix("FILE") || $0.hasSuffix("DIR") } ?? false }

    /// `TODOKE_DATABASE_URL` for `database-url`.
    package var environmentName: String {
        "TODOKE_" + String(name.map { $0 == "-" ? "_" : $0 }).uppercased()
    }
}
