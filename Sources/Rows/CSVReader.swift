package import Delivery
package import Operations

/// Comma-separated values as in RFC 4180, with a header line: quotes, line breaks in quotes, CRLF or LF, a BOM; the comma
/// may be another character.
///
/// Empty lines are skipped, also before the header. A quote inside a field that does not begin with one is an ordinary character.
package struct CSVReader: RowReader {
    package private(set) var columns: [String] = []
    private var input: ByteReader
    /// The line that the next byte is on.
    private var line = 1

    private let delimiter: UInt8
    private let what: String
    private var isTooLong = false
    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Reads the header line.
    ///
    /// `what` is what its rows are, in messages.
    package init(
        _ source: ByteReader, delimiter: UInt8 = UInt8(ascii: ","), what: String = "the audience"
    ) throws(Failure) {
        input = source
        self.what = what
        self.delimiter = delimiter
        try skipByteOrderMark()
        try skipEmptyLines()
        var header = TemplateRow()
        var malformed: String?
        guard try readRecord(into: &header, &malformed) else {
            throw Failure(.data, "\(what) is empty", remedy: "give it a header line with the columns' names")
        }
        if let fault = malformed ?? textFault(header.bytes) {
            throw Failure(.data, "\(what)'s header line: \(fault)", remedy: "write it as CSV in UTF-8")
        }
        columns = (0..<header.count).map { header.text($0) }
        guard !columns.contains(where: Self.hasLoneReturn) else {
            throw Failure(.data, "\(what)'s lines end in CR alone", remedy: "end them with LF or CRLF")
        }
        if let name = repeated(columns) {
            throw Failure(
                .data, "\(what)'s header names \"\(shownColumn(name))\" twice",
                remedy: "give each column its own name")
        }
    }

    package mutating func next(into row: inout TemplateRow) throws(Failure) -> ReadRow {
        row.reset()
        try skipEmptyLines()
        let start = line
        var malformed: String?
        guard try readRecord(into: &row, &malformed) else { return .end }
        if malformed == nil { malformed = textFault(row.bytes, line: start) }
        if malformed == nil && row.count != columns.count {
            malformed = "\(row.count) fields where the header has \(columns.count)"
        }
        guard let malformed else { return .row(line: start) }
        let kept = isTooLong ? row.bytes.count : row.ends.last ?? 0
        return .refused(line: start, reason: malformed, input: storable(row.bytes[..<kept]))
    }

    package var bytesTaken: Int { input.bytesBefore + input.position }

    /// Whether a name runs over the end of a line as old Macs wrote it.
    private static func hasLoneReturn(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.indices.contains { index in
            bytes[index] == carriageReturn && (index + 1 == bytes.count || bytes[index + 1] != lineFeed)
        }
    }

    private mutating func skipByteOrderMark() throws(Failure) {
        // A piece may be as short as a byte.
        for (index, byte) in [0xEF, 0xBB, 0xBF].enumerated() as EnumeratedSequence<[UInt8]> {
            guard try input.peek() == byte else {
                if index > 0 {
                    throw Failure(
                        .data, "\(what)'s header line: not valid UTF-8", remedy: "write it as CSV in UTF-8")
                }
                return
            }
            input.position += 1
        }
    }

    private mutating func skipEmptyLines() throws(Failure) {
        while let byte = try input.peek() {
            if byte == Self.lineFeed {
                line += 1
            } else if byte != Self.carriageReturn {
                return
            }
            input.position += 1
        }
    }

    /// Reads to the end of a record; `false` at the end of the input.
    private mutating func readRecord(into row: inout TemplateRow, _ malformed: inout String?) throws(Failure) -> Bool {
        guard try input.hasByte() else { return false }
        let start = line
        isTooLong = false
        while true {
            let fieldStart = row.bytes.count
            if try input.peek() == Self.quote {
                input.position += 1
                try quotedField(into: &row.bytes, start, &malformed)
            } else {
                try plainField(into: &row.bytes)
            }
            var fieldEnd = row.bytes.count
            let terminator = try input.peek()
            if terminator != delimiter && !lastWasQuoted, fieldEnd > fieldStart,
                row.bytes[fieldEnd - 1] == Self.carriageReturn
            {
                fieldEnd -= 1
            }
            // Of a row that is too long only the beginning is kept, for people to see.
            if !isTooLong || row.count == 0 {
                row.starts.append(fieldStart)
                row.ends.append(fieldEnd)
            }
            if terminator != nil { input.position += 1 }
            guard terminator == delimiter else {
                if terminator == Self.lineFeed { line += 1 }
                if isTooLong { malformed = "longer than \(RowLimits.row >> 20) MiB" }
                return true
            }
            // Keeps halves of a character in two fields from looking like one.
            row.bytes.append(delimiter)
        }
    }

    private var lastWasQuoted = false

    /// Takes bytes up to a delimiter, a line's end or the input's end, which is left.
    private mutating func plainField(into bytes: inout [UInt8]) throws(Failure) {
        lastWasQuoted = false
        let delimiter = delimiter
        while try input.hasByte() {
            let found = take(into: &bytes) { $0 == delimiter || $0 == Self.lineFeed }
            cut(&bytes)
            if found { return }
        }
    }

    /// Takes bytes up to the closing quote and what follows it, up to a delimiter, a line's end or the input's end.
    private mutating func quotedField(
        into bytes: inout [UInt8], _ start: Int, _ malformed: inout String?
    ) throws(Failure) {
        while true {
            guard try input.hasByte() else {
                // It has swallowed rows, and nobody knows how many of them were good.
                let isOneLine = line == start || line == start + 1 && bytes.last == Self.lineFeed
                guard isOneLine && !isTooLong else {
                    throw Failure(
                        .data, "line \(start): a quoted field is not closed, and the rest of \(what) is in it",
                        remedy: "close it, and run the same line again: what stands before it is done")
                }
                malformed = "a quoted field is not closed"
                return
            }
            let from = bytes.count
            let found = take(into: &bytes) { $0 == Self.quote }
            line += bytes[from...].count { $0 == Self.lineFeed }
            cut(&bytes)
            guard found else { continue }
            input.position += 1
            guard let next = try input.peek() else { break }
            if next == Self.quote {
                bytes.append(Self.quote)
                input.position += 1
                continue
            }
            if next == delimiter || next == Self.lineFeed { break }
            if next == Self.carriageReturn {
                input.position += 1
                let after = try input.peek()
                if after == nil || after == Self.lineFeed { break }
                bytes.append(Self.carriageReturn)
            }
            malformed = "text after the closing quote of a field"
            try plainField(into: &bytes)
            return
        }
        lastWasQuoted = true
    }

    /// Takes bytes of this piece up to one that fits, which is left; `false` when none does.
    private mutating func take(into bytes: inout [UInt8], until isEnd: (UInt8) -> Bool) -> Bool {
        let start = input.position
        let end = input.buffer.withUnsafeBufferPointer { piece in
            var index = start
            while index < piece.count && !isEnd(piece[index]) { index += 1 }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: piece[start..<index]))
            return index
        }
        input.position = end
        return end < input.buffer.count
    }

    /// Keeps no more of a row than a row may have; the rest is read past.
    private mutating func cut(_ bytes: inout [UInt8]) {
        guard bytes.count > RowLimits.row else { return }
        isTooLong = true
        bytes.removeLast(bytes.count - RowLimits.row)
    }
}
