import Delivery
import Operations
import Postgres
import Queue
import Rows
import Signing

/// The audience that the options name: opened, with a text that says what it is defined by.
struct Audience {
    var reader: any RowReader
    /// What a later run of the same notification has to repeat: never the rows themselves.
    let definition: String
    /// A row may lack a field: then only that row is refused.
    let hasLooseFields: Bool
    /// Bytes of the input, where that is known.
    let size: Int?
    /// Its rows are devices of the registry.
    let isRegistry: Bool

    /// It can be opened a second time: it is no pipe.
    let canBeReadAgain: Bool
    /// The text of the query, where it is one.
    private let query: [UInt8]?

    /// Opens it and reads as much as is needed to know its columns.
    ///
    /// - Parameters:
    ///   - wanted: the columns that the template names; NDJSON has no others.
    ///   - other: the same audience opened before, whose query, which may have come from a pipe, is not read again.
    init(_ options: ProducerOptions, wanted: [String], again other: Audience? = nil) throws(Failure) {
        switch options.audience.source {
        case .single(let kind, let target):
            self.init(
                SingleReader(kind.rawValue, target), "single\n\(kind.rawValue)\n\(SHA256.hex(Array(target.utf8).span))")
        case .query(let path):
            let query =
                if let text = other?.query { text } else { try InputFile.contents(path, option: "audience-sql") }
            let connection = try Self.connect(
                options.audience.sourceDatabaseURL, option: "--source-database-url")
            self.init(try SQLReader(connection, query: query), "sql\n\(SHA256.hex(query.span))", query: query)
        case .file(let path):
            let file = try Self.open(path, option: "audience", options.audience)
            let reader = try file.reader(wanted: wanted.contains("user_id") ? wanted : wanted + ["user_id"])
            self.init(
                reader, "file\n\(Self.fileName(path))\n\(file.definition)", hasLooseFields: file.format == .ndjson,
                size: file.size, canBeReadAgain: file.size != nil)
        case .registry(let registry):
            let query = RegistryQuery(app: options.app, options: registry, dedupeBy: options.dedupeBy)
            let connection = try Self.connect(options.databaseURL, option: "--database-url")
            try Self.checkApp(options.app, connection)
            guard case .users(let path) = registry.scope else {
                let reader = try SQLReader(connection, query: Array(query.text.utf8), settings: query.settings)
                self.init(reader, registry.definition, isRegistry: true)
                return
            }
            let file = try Self.open(path, option: "users", options.audience)
            // What the registry knows is not asked of the file, unless it has a header that says it brings that.
            let own = wanted.filter { !RegistryQuery.columns.contains($0) } + ["user_id"]
            let reader = try UsersReader(try file.reader(wanted: own), connection, query)
            self.init(
                reader, "\(registry.definition)\n\(file.definition)", hasLooseFields: file.format == .ndjson,
                size: file.size, isRegistry: true, canBeReadAgain: file.size != nil)
        }
    }

    private init(
        _ reader: any RowReader, _ definition: String, hasLooseFields: Bool = false, size: Int? = nil,
        isRegistry: Bool = false, canBeReadAgain: Bool = true, query: [UInt8]? = nil
    ) {
        self.reader = reader
        self.definition = definition
        self.hasLooseFields = hasLooseFields
        self.size = size
        self.isRegistry = isRegistry
        self.canBeReadAgain = canBeReadAgain
        self.query = query
    }

    /// A path's last part, so that another working directory is not another audience.
    static func fileName(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    private static func open(_ path: String, option: String, _ options: AudienceOptions) throws(Failure) -> RowFile {
        try RowFile(
            InputFile(path, option: option), what: "the audience",
            remedy: "give --\(option) a CSV file with a header line, or NDJSON", format: options.format,
            delimiter: options.delimiter)
    }

    private static func connect(_ url: String?, option: String) throws(Failure) -> Connection {
        do {
            return try Connection(Conninfo(url, applicationName: "todoke-producer audience"))
        } catch {
            let failure = Failure(error, while: "connecting to the audience's database")
            throw Failure(
                failure.exit, failure.what, remedy: failure.remedy.replacing("--database-url", with: option))
        }
    }

    private static func checkApp(_ name: String, _ connection: Connection) throws(Failure) {
        let found: QueryResult
        do {
            found = try connection.query("SELECT 1 FROM todoke.apps WHERE name = $1", [.text(name)])
        } catch { throw Failure(LoadError(error)) }
        guard found.rowCount > 0 else { throw Failure(LoadError.unknownApp(name)) }
    }
}
