import Operations

/// A file of rows, opened far enough to know its format.
struct AudienceFile {
    let format: AudienceOptions.Format
    /// Bytes, where that is known.
    let size: Int?
    private let bytes: ByteReader
    private let delimiter: UInt8

    /// Opens the file that an option names; `-` is standard input.
    init(_ path: String, option: String, _ options: AudienceOptions) throws(Failure) {
        let file = try InputFile(path, option: option)
        var head = try Self.head(of: file)
        guard !head.isEmpty else {
            throw Failure(
                .data, "the audience \(path) is empty",
                remedy: "give --\(option) a CSV file with a header line, or NDJSON")
        }
        size = file.size
        format = options.format ?? (Self.firstCharacter(head) == UInt8(ascii: "{") ? .ndjson : .csv)
        delimiter = options.delimiter
        bytes = ByteReader { (buffer) throws(Failure) in
            if head.isEmpty {
                try file.read(into: &buffer)
            } else {
                buffer = head
                head = []
            }
        }
    }

    /// What a later run of the same notification has to repeat.
    var definition: String {
        format.rawValue
            + (format == .csv && delimiter != UInt8(ascii: ",") ? "\ndelimiter=\(delimiter)" : "")
    }

    /// Reads the header of CSV; NDJSON gets the columns that are wanted.
    func reader(wanted: [String]) throws(Failure) -> any AudienceReader {
        switch format {
        case .csv: try CSVReader(bytes, delimiter: delimiter)
        case .ndjson: NDJSONReader(bytes, columns: wanted)
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
                    remedy: "give it as a CSV file with a header line, or as NDJSON")
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
