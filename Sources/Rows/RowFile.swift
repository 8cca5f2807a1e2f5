package import Operations

/// A file of rows, opened far enough to know its format.
package struct RowFile {
    package enum Format: String, Sendable { case csv, ndjson }

    package let format: Format
    /// Bytes, where that is known.
    package let size: Int?
    private let bytes: ByteReader
    private let delimiter: UInt8
    private let what: String

    /// Takes a file that is open.
    ///
    /// - Parameters:
    ///   - what: what its rows are, in messages.
    ///   - remedy: what to do about one that is empty.
    ///   - format: `nil` is by the first character.
    package init(
        _ file: InputFile, what: String, remedy: String, format: Format?, delimiter: UInt8
    ) throws(Failure) {
        var head = try Self.head(of: file, what)
        guard !head.isEmpty else { throw Failure(.data, "\(what) \(file.name) is empty", remedy: remedy) }
        self.what = what
        size = file.size
        self.format = format ?? (Self.firstCharacter(head) == UInt8(ascii: "{") ? .ndjson : .csv)
        self.delimiter = delimiter
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
    package var definition: String {
        format.rawValue
            + (format == .csv && delimiter != UInt8(ascii: ",") ? "\ndelimiter=\(delimiter)" : "")
    }

    /// Reads the header of CSV; NDJSON gets the columns that are wanted.
    package func reader(wanted: [String], lists: Set<String> = []) throws(Failure) -> any RowReader {
        switch format {
        case .csv: try CSVReader(bytes, delimiter: delimiter, what: what)
        case .ndjson: NDJSONReader(bytes, columns: wanted, lists: lists)
        }
    }

    /// The first bytes, enough to tell the format: a pipe may bring them one by one.
    private static func head(of file: InputFile, _ what: String) throws(Failure) -> [UInt8] {
        var head: [UInt8] = []
        var piece: [UInt8] = []
        while firstCharacter(head) == nil {
            try file.read(into: &piece)
            if piece.isEmpty { break }
            head += piece
            guard head.count <= RowLimits.leadingSpace || firstCharacter(head) != nil else {
                throw Failure(
                    .data, "\(what) begins with more than \(RowLimits.leadingSpace >> 10) KiB of nothing",
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

    /// The character that `--delimiter` names.
    package static func delimiter(_ text: String) throws(Failure) -> UInt8 {
        if ["tab", "\\t"].contains(text) { return UInt8(ascii: "\t") }
        let bytes = Array(text.utf8)
        guard bytes.count == 1, bytes[0] == UInt8(ascii: "\t") || (0x20..<0x7F).contains(bytes[0]),
            bytes[0] != UInt8(ascii: "\"")
        else {
            throw Failure(
                .usage, "--delimiter must be one character, not \(GivenText.quoted(text))",
                remedy: "write it as ';', '|' or tab")
        }
        return bytes[0]
    }
}
