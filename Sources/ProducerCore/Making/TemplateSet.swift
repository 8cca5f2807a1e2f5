import Delivery
import Operations
import Rows
import Signing

/// The templates of one notification, compiled: one for every row, and others for rows of some locales.
struct TemplateSet {
    struct Entry {
        var template: Template
        /// What errors call it.
        let name: String
        /// Whether a line and a column in it say something to whoever wrote it.
        let hasPlaces: Bool

        func place(_ column: Template.Column) -> String {
            hasPlaces ? column.position.map { "\(name) \($0)" } ?? name : name
        }
    }

    /// The first is the one for rows of any other locale.
    private(set) var entries: [Entry] = []
    /// What a later run of the same notification has to repeat.
    let digest: String
    private let localeColumn: String
    private var byLocale: [LocaleTag: Int] = [:]
    private var localeField: Int?
    /// What was chosen for a locale as rows write it.
    private var known: [String: Int] = [:]

    /// Far more than there are locales.
    private static let mostLocales = 2_000

    /// Reads, compiles and checks every template.
    init(_ content: ContentOptions, _ additions: TemplateAdditions) throws(Failure) {
        localeColumn = content.localeColumn
        var digests: [String] = []
        switch content.source {
        case .file(let file): digests.append(try Self.add(file, option: "template", additions, to: &entries))
        case .text(let text):
            let name = "the message"
            entries.append(
                Entry(
                    template: try Self.compiled(text, name, hasPlaces: false, additions), name: name, hasPlaces: false))
            digests.append(SHA256.hex(text.span))
        }
        for variant in content.variants {
            byLocale[variant.locale] = entries.count
            let digest = try Self.add(variant.file, option: "template-for", additions, to: &entries)
            digests.append("\(variant.locale.text)=\(digest)")
        }
        // One template's digest is that of its text alone.
        digest = digests.count == 1 ? digests[0] : SHA256.hex(Array(digests.joined(separator: "\n").utf8).span)
    }

    private static func add(
        _ file: String, option: String, _ additions: TemplateAdditions, to entries: inout [Entry]
    ) throws(Failure) -> String {
        let text = try InputFile.contents(file, option: option)
        entries.append(
            Entry(template: try compiled(text, file, hasPlaces: true, additions), name: file, hasPlaces: true))
        return SHA256.hex(text.span)
    }

    private static func compiled(
        _ text: [UInt8], _ name: String, hasPlaces: Bool, _ additions: TemplateAdditions
    ) throws(Failure) -> Template {
        let template: Template
        do { template = try Template(text, additions) } catch {
            guard hasPlaces else { throw Failure(.data, "\(name): \(error.reason)", remedy: error.remedy) }
            throw Failure(error, file: name)
        }
        let issues = template.issues()
        if let first = issues.first {
            let more = issues.count > 1 ? " (and \(issues.count - 1) more)" : ""
            throw Failure(.data, "\(name): \(first)\(more)", remedy: "correct the template; nothing was queued")
        }
        return template
    }

    /// The columns that rows are asked for, each once.
    var columns: [String] {
        var seen: Set<String> = []
        let names = entries.flatMap { $0.template.columns.map(\.name) } + (byLocale.isEmpty ? [] : [localeColumn])
        return names.filter { seen.insert($0).inserted }
    }

    /// The zones that templates name, each with the template's name.
    var zones: [(zone: String, name: String)] {
        entries.flatMap { entry in entry.template.zones.sorted().map { ($0, entry.name) } }
    }

    /// Finds the columns of all templates among those of the audience.
    mutating func bind(_ columns: [String]) throws(Failure) {
        if !byLocale.isEmpty {
            localeField = try columns.field(localeColumn, for: "--template-for (or name another with --locale-column)")
        }
        for index in entries.indices {
            for (number, column) in entries[index].template.columns.enumerated() {
                guard let field = columns.firstIndex(of: column.name) else {
                    throw Self.missing(column, columns, entries[index])
                }
                entries[index].template.binding[number] = field
            }
        }
    }

    /// The number of the row's template: that of its locale, or of the next wider one there is.
    mutating func choose(_ row: borrowing TemplateRow) -> Int {
        guard let localeField, row.has(localeField),
            row.ends[localeField] - row.starts[localeField] <= LocaleTag.longest
        else { return 0 }
        let text = row.text(localeField)
        if let number = known[text] { return number }
        let number = LocaleTag(text)?.fallbacks.first { byLocale[$0] != nil }.flatMap { byLocale[$0] } ?? 0
        if known.count >= Self.mostLocales { known.removeAll(keepingCapacity: true) }
        known[text] = number
        return number
    }

    /// The name of the first column of this template that the row lacks.
    func missing(_ row: borrowing TemplateRow, _ number: Int) -> String? {
        for (index, field) in entries[number].template.binding.enumerated() where row.starts[field] < 0 {
            return entries[number].template.columns[index].name
        }
        return nil
    }

    private static func missing(_ column: Template.Column, _ columns: [String], _ entry: Entry) -> Failure {
        let near = columns.filter { abs($0.utf8.count - column.name.utf8.count) <= 2 }
        let close = near.map { ($0, editDistance($0, column.name)) }.min { $0.1 < $1.1 }
        var hint = close.flatMap { $0.1 <= 2 ? "did you mean \"\($0.0)\"? " : nil } ?? ""
        if columns.count == 1, let other = columns[0].first(where: { ";|\t".contains($0) }) {
            hint = "are its columns parted by \(other == "\t" ? "tab" : "'\(other)'")? then give --delimiter; "
        }
        return Failure(
            .data, "\(entry.place(column)): the audience has no column \"\(column.name)\"",
            remedy: "\(hint)it has \(columns.shown)")
    }
}

extension [String] {
    /// The number of a column that something other than a template needs.
    func field(_ name: String, for option: String) throws(Failure) -> Int {
        guard let field = firstIndex(of: name) else {
            throw Failure(
                .data, "the audience has no column \"\(shownColumn(name))\", which is needed for \(option)",
                remedy: "it has \(shown)")
        }
        return field
    }

    /// The first columns' names, cut, for error texts.
    var shown: String {
        prefix(12).map(shownColumn).joined(separator: ", ") + (count > 12 ? ", …" : "")
    }
}
