/// Texts of the command line and of variables, as far as messages may quote them.
///
/// Who writes `--credentials "$(cat key.json)"` gives a private key where a file's name is expected.
package enum GivenText {
    /// The system takes no longer name of a file, bytes.
    private static let longestPath = 4_096

    /// What the text holds instead of a name of a file or an address, and must not be quoted for; nil where it may be one.
    package static func insteadOfName(_ text: String) -> String? {
        if text.contains("-----BEGIN") { return "a key or a certificate" }
        let start = text.drop(while: \.isWhitespace)
        // Also that of one app: `APP=FILE`.
        if start.hasPrefix("{") || start.hasPrefix("[{") || text.contains("={") { return "JSON" }
        if text.contains(where: \.isNewline) { return "the text of a file" }
        return text.utf8.count > longestPath ? "a long text" : nil
    }

    /// Characters of a text that are quoted: a device token is longer.
    private static let quotedCharacters = 40

    /// The beginning of the text in quotes, or what it holds where it may be a secret.
    package static func quoted(_ text: String) -> String {
        if let content = insteadOfName(text) { return "(\(content))" }
        let start = text.prefix(quotedCharacters)
        return "\"\(start)\(start.endIndex == text.endIndex ? "" : "…")\""
    }

    /// Refuses what is no name of a file.
    ///
    /// - Parameter option: what gave the text, such as `--credentials`.
    package static func checkFileName(_ text: String, option: String) throws(Failure) {
        guard let content = insteadOfName(text) else { return }
        throw Failure(
            .usage, "\(option) holds \(content) where a file name is expected",
            remedy: "write it to a file, and give the file's name")
    }
}
