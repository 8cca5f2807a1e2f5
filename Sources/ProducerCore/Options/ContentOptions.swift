import Delivery
import Operations

/// What the messages say, as the command line has it: a template's file, or texts on the line itself.
struct ContentOptions {
    enum Source: Equatable {
        case file(String)
        /// The template that `--title`, `--body` and `--data` make.
        case text([UInt8])
    }

    let source: Source
    /// The templates for rows of some locales, in order of their locales.
    let variants: [(locale: LocaleTag, file: String)]
    /// The column with a row's locale.
    let localeColumn: String
    /// A picture's URL, with placeholders.
    let image: String?

    private static let usage = "see todoke-producer --help"

    /// `target` is the field that the audience fills where there is no template to name it.
    init(_ options: ParsedOptions, target: TargetKind) throws(Failure) {
        image = options.string("image")
        let texts = ["title", "body", "data"].filter { options.isSet($0) }
        if let file = options.given("template") {
            guard texts.isEmpty else {
                throw Failure(
                    .usage, "--template and --\(texts[0]) are both given",
                    remedy: "say what the message says in the template, or with --title, --body and --data")
            }
            source = .file(file)
        } else {
            guard !texts.isEmpty else {
                throw Failure(
                    .usage, "there is nothing to send: --template is missing",
                    remedy: "give --template FILE, or --title and --body")
            }
            source = .text(try Self.template(options, target))
        }
        var variants: [(locale: LocaleTag, file: String)] = []
        for text in options.strings("template-for") {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let locale = LocaleTag(parts[0]) else {
                throw Failure(
                    .usage, "--template-for must be LOCALE=FILE, not \(GivenText.quoted(text))",
                    remedy: "write it as --template-for pt-BR=recipe.pt-BR.json")
            }
            guard !variants.contains(where: { $0.locale == locale }) else {
                throw Failure(
                    .usage, "--template-for names \(locale.text) twice", remedy: "give each locale one template")
            }
            variants.append((locale, parts[1]))
        }
        guard variants.isEmpty || texts.isEmpty else {
            throw Failure(
                .usage, "--template-for needs --template", remedy: "put the message for all other locales in a file")
        }
        self.variants = variants.sorted { $0.locale.text < $1.locale.text }
        guard !variants.isEmpty || !options.isSet("locale-column") else {
            throw Failure(.usage, "--locale-column is for --template-for", remedy: Self.usage)
        }
        localeColumn = options.given("locale-column") ?? "locale"
    }

    /// Every file that is to be read.
    var files: [String] {
        let others = variants.map(\.file)
        return if case .file(let file) = source { [file] + others } else { others }
    }

    /// The message object, in which the texts may hold placeholders as in a template.
    private static func template(_ options: ParsedOptions, _ target: TargetKind) throws(Failure) -> [UInt8] {
        var bytes = Array("{\"\(target.rawValue)\":\"{{\(target.rawValue)}}\"".utf8)
        let shown = ["title", "body"].compactMap { name in options.string(name).map { (name, $0) } }
        if !shown.isEmpty { appendObject("notification", shown, to: &bytes) }
        var data: [(String, String)] = []
        for text in options.strings("data") {
            guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
                throw Failure(
                    .usage, "--data must be KEY=VALUE, not \(GivenText.quoted(text))",
                    remedy: "write it as --data screen=recipe")
            }
            data.append((String(text[..<sign]), String(text[text.index(after: sign)...])))
        }
        if !data.isEmpty { appendObject("data", data, to: &bytes) }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private static func appendObject(_ name: String, _ members: [(String, String)], to bytes: inout [UInt8]) {
        bytes.append(contentsOf: ",\"\(name)\":{".utf8)
        for (index, member) in members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            appendJSONString(member.0, into: &bytes)
            bytes.append(UInt8(ascii: ":"))
            appendJSONString(member.1, into: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}
