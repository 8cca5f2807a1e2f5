/// A locale as apps report it, made comparable: `pt_BR.UTF-8` and `pt-br` are one.
struct LocaleTag: Hashable {
    /// Lowercase subtags with hyphens between them.
    let text: String

    /// Bytes; RFC 5646 asks for 35 at least.
    static let longest = 100

    /// `nil` for what is no language tag (BCP 47: letters and digits, at most eight a subtag).
    init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.longest else { return nil }
        var subtags: [String] = []
        // POSIX puts an encoding after a dot and a modifier after an at sign.
        for subtag in text.prefix(while: { $0 != "." && $0 != "@" }).split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "-" || $0 == "_" })
        {
            guard (1...8).contains(subtag.utf8.count), subtag.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
            else { return nil }
            subtags.append(subtag.lowercased())
        }
        guard let first = subtags.first, first.allSatisfy(\.isLetter) else { return nil }
        self.text = subtags.joined(separator: "-")
    }

    private init(subtags: some Sequence<Substring>) { text = subtags.joined(separator: "-") }

    /// Itself, and then with fewer and fewer subtags: `zh-hant-tw`, `zh-hant`, `zh` (RFC 4647 section 3.4).
    var fallbacks: [LocaleTag] {
        let subtags = text.split(separator: "-")
        return (0..<subtags.count).map { LocaleTag(subtags: subtags.dropLast($0)) }
    }
}
