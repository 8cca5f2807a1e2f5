import Operations

/// Which devices of the registry are the audience, as the command line has it.
struct RegistryOptions: Equatable {
    enum Scope: Equatable {
        case all
        /// Devices that are subscribed to at least one of these.
        case channels([String])
        /// The devices of the users that a file names.
        case users(file: String)
    }

    let scope: Scope
    /// Any when empty.
    let platforms: [String]
    /// Any when empty; `pt` takes `pt-BR` in.
    let locales: [LocaleTag]
    /// Days since a device was seen last, at most.
    let seenWithin: Int

    private static let known = ["ios", "android", "web"]
    /// FCM drops a token that was not used for so many days.
    static let longestUnseen = 270

    /// `nil` when `scope` is the name of another kind of audience.
    init?(_ options: ParsedOptions, scope name: String) throws(Failure) {
        let filters = ["platform", "locale", "seen-within"].filter { options.isSet($0) }
        switch name {
        case "all": scope = .all
        case "channel": scope = .channels(Set(options.strings("channel").filter { !$0.isEmpty }).sorted())
        case "users": scope = .users(file: options.given("users") ?? "")
        default:
            guard filters.isEmpty else {
                throw Failure(
                    .usage, "--\(filters[0]) is for --all, --channel and --users",
                    remedy: "leave rows out of the audience itself")
            }
            return nil
        }
        platforms = Set(options.strings("platform")).sorted()
        for platform in platforms where !Self.known.contains(platform) {
            throw Failure(
                .usage, "--platform must be ios, android or web, not \(GivenText.quoted(platform))",
                remedy: "see todoke-producer --help")
        }
        var locales: Set<LocaleTag> = []
        for text in options.strings("locale") {
            guard let locale = LocaleTag(text) else {
                throw Failure(
                    .usage, "--locale must be a language tag, not \(GivenText.quoted(text))",
                    remedy: "write it as ja or pt-BR")
            }
            locales.insert(locale)
        }
        self.locales = locales.sorted { $0.text < $1.text }
        seenWithin = try options.integer("seen-within", in: 1...Self.longestUnseen) ?? Self.longestUnseen
    }

    /// What a later run of the same notification has to repeat.
    var definition: String {
        var lines = ["registry"]
        switch scope {
        case .all: lines.append("all")
        case .channels(let names): lines += names.map { "channel=\($0)" }
        case .users(let file): lines.append("users=\(Audience.fileName(file))")
        }
        lines += platforms.map { "platform=\($0)" } + locales.map { "locale=\($0.text)" }
        if seenWithin < Self.longestUnseen { lines.append("seen-within=\(seenWithin)") }
        return lines.joined(separator: "\n")
    }
}
