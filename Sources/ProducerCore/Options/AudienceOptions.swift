import Delivery
import Operations
import Rows

/// Whom the messages are for, as the command line has it.
struct AudienceOptions {
    enum Source: Equatable {
        case file(String)
        case query(file: String)
        case registry(RegistryOptions)
        /// One target without an audience.
        case single(TargetKind, String)
    }

    let source: Source
    /// `nil`: by the first character of the input.
    let format: RowFile.Format?
    /// What stands between two fields of CSV.
    let delimiter: UInt8
    /// Where a query runs.
    let sourceDatabaseURL: String?

    private static let usage = "see todoke-producer --help"
    private static let sources =
        ["audience", "audience-sql", "all", "channel", "users"] + singleTargets.map(\.option)
    private static let singleTargets: [(option: String, kind: TargetKind)] = [
        ("target", .token), ("topic", .topic), ("condition", .condition), ("fid", .fid),
    ]

    init(_ options: ParsedOptions) throws(Failure) {
        let given = Self.sources.filter { options.given($0) != nil }
        guard given.count == 1, let name = given.first else {
            let all = Self.sources.map { "--\($0)" }.joined(separator: ", ")
            throw Failure(
                .usage, given.isEmpty ? "there is no audience" : "--\(given[0]) and --\(given[1]) are both given",
                remedy: "give exactly one of \(all)")
        }
        let registry = try RegistryOptions(options, scope: name)
        if let registry {
            source = .registry(registry)
        } else if let text = options.given(name), let single = Self.singleTargets.first(where: { $0.option == name }) {
            // The system's text was repaired on its way here.
            guard !text.unicodeScalars.contains("\u{FFFD}") else {
                throw Failure(.usage, "--\(name) is not valid UTF-8", remedy: "write it in UTF-8")
            }
            source = .single(single.kind, text)
        } else {
            let file = options.given(name) ?? ""
            source = name == "audience" ? .file(file) : .query(file: file)
        }
        if let text = options.string("audience-format") {
            guard let known = RowFile.Format(rawValue: text) else {
                throw Failure(.usage, "--audience-format must be csv or ndjson", remedy: Self.usage)
            }
            format = known
        } else {
            format = nil
        }
        delimiter = try RowFile.delimiter(options.given("delimiter") ?? ",")
        sourceDatabaseURL = options.given("source-database-url") ?? options.string("database-url")
    }

    /// The field of a message that the audience fills where no template says so.
    var target: TargetKind { if case .single(let kind, _) = source { kind } else { .token } }

    /// The file that is read, if there is one.
    var file: String? {
        switch source {
        case .file(let file), .query(let file): file
        case .registry(let registry): if case .users(let file) = registry.scope { file } else { nil }
        case .single: nil
        }
    }
}
