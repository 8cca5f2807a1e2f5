import Delivery
import Operations
import Postgres
import Queue
import Signing

/// The audience that the options name: opened, with a text that says what it is defined by.
struct Audience {
    var reader: any AudienceReader
    /// What a later run of the same notification has to repeat: never the rows themselves.
    let definition: String
    /// A row may lack a field: then only that row is refused.
    let hasLooseFields: Bool
    /// Bytes of the input, where that is known.
    let size: Int?

    /// Opens it and reads as much as is needed to know its columns.
    ///
    /// `wanted` are the columns that the template names; NDJSON has no others.
    init(_ options: ProducerOptions, wanted: [String]) throws(Failure) {
        switch options.audience {
        case .query(let path):
            let query = try InputFile.contents(path, option: "audience-sql")
            let connection: Connection
            do {
                connection = try Connection(
                    Conninfo(options.sourceDatabaseURL, applicationName: "todoke-producer audience"))
            } catch {
                let failure = Failure(error, while: "connecting to the audience's database")
                throw Failure(
                    failure.exit, failure.what,
                    remedy: failure.remedy.replacing("--database-url", with: "--source-database-url"))
            }
            reader = try SQLReader(connection, query: query)
            definition = "sql\n\(SHA256.hex(query.span))"
            hasLooseFields = false
            size = nil
        case .file(let path):
            let file = try InputFile(path, option: "audience")
            size = file.size
            var head = try Self.head(of: file)
            let format = options.format ?? (Self.firstCharacter(head) == UInt8(ascii: "{") ? .ndjson : .csv)
            // The name and not the path, so that another working directory is not another audience.
            let name = path.split(separator: "/").last.map(String.init) ?? path
            definition = "file\n\(name)\n\(format.rawValue)"
            hasLooseFields = format == .ndjson
            let bytes = ByteReader { (buffer) throws(Failure) in
                if head.isEmpty {
                    try file.read(into: &buffer)
                } else {
                    buffer = head
                    head = []
                }
            }
            guard !head.isEmpty else {
                throw Failure(
                    .data, "the audience \(path) is empty",
                    remedy: "give --audience a CSV file with a header line, or NDJSON")
            }
            switch format {
            case .csv: reader = try CSVReader(bytes)
            case .ndjson:
                reader = NDJSONReader(bytes, columns: wanted.contains("user_id") ? wanted : wanted + ["user_id"])
            }
        }
    }

    /// The first bytes, enough to tell the format: a pipe may bring them one by one.
    private static func head(of file: InputFile) throws(Failure) -> [UInt8] {
        var head: [UInt8] = []
        var piece: [UInt8] = []
        while firstCharacter(head) == nil {
            try file.read(into: &piece)
            if piece.isEmpty { break }
            head += piece
            guard head.count <= AudienceLimits.leadingSpace || firstCharacter(head) != nil else {
                throw Failure(
                    .data, "the audience begins with more than \(AudienceLimits.leadingSpace >> 10) KiB of nothing",
                    remedy: "give --audience a CSV file with a header line, or NDJSON")
            }
        }
        return head
    }

    /// The first byte that is neither a byte order mark nor white space; `nil` when it has not come yet.
    private static func firstCharacter(_ head: [UInt8]) -> UInt8? {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let isPartOfMark = head.count < mark.count && mark.starts(with: head)
        return isPartOfMark ? nil : head.dropFirst(head.starts(with: mark) ? mark.count : 0).first { $0 > 0x20 }
    }
}
