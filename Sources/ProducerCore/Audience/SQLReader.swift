import Delivery
import Operations
import Postgres
import Rows

/// The rows of a query, streamed with COPY: nothing is collected, and the server sees one consistent moment.
struct SQLReader: RowReader {
    let columns: [String]
    let bytesTaken = 0
    private let connection: Connection
    private let copy: String
    private let settings: [(name: String, value: Value)]
    private var isOpen = false
    private var number = 0

    /// Asks the server for the query's columns; runs it when the first row is wanted.
    ///
    /// The transaction is read-only: an audience is a question. It begins with the first row, since a run may have to
    /// wait for another before. `settings` hold for that transaction.
    init(
        _ connection: Connection, query: [UInt8], settings: [(name: String, value: Value)] = []
    ) throws(Failure) {
        guard textFault(query) == nil else {
            throw Failure(.data, "the audience's query is not UTF-8", remedy: "save the file as UTF-8")
        }
        let text: String
        switch SQLText(query) {
        case .one(let statement): text = statement
        case .empty:
            throw Failure(.data, "the audience's query is empty", remedy: "give --audience-sql a SELECT")
        case .several:
            throw Failure(
                .data, "the audience's query is more than one statement",
                remedy: "give --audience-sql one SELECT; what comes before it may be a view, or WITH")
        }
        self.connection = connection
        self.settings = settings
        // The line's end also ends a comment in the query's last line.
        copy = "COPY (\n\(text)\n) TO STDOUT"
        do {
            try Self.begin(connection, settings)
            let none = try connection.query("SELECT * FROM (\n\(text)\n) AS audience LIMIT 0")
            columns = (0..<none.columnCount).map { none.columnName($0) ?? "" }
            try connection.script("COMMIT")
        } catch { throw Self.failure(error) }
        guard !columns.isEmpty else {
            throw Failure(.data, "the audience's query has no columns", remedy: "name them after SELECT")
        }
        if let name = repeated(columns) {
            throw Failure(
                .data, "the audience's query has two columns named \"\(shownColumn(name))\"",
                remedy: "give each its own name with AS")
        }
    }

    private static func begin(
        _ connection: Connection, _ settings: [(name: String, value: Value)]
    ) throws(PostgresError) {
        try connection.script("SET jit = off; BEGIN READ ONLY")
        for setting in settings {
            try connection.query("SELECT set_config($1, $2, true)", [.text(setting.name), setting.value])
        }
    }

    mutating func next(into row: inout TemplateRow) throws(Failure) -> ReadRow {
        do {
            if !isOpen {
                try Self.begin(connection, settings)
                try connection.beginCopyOut(copy)
                isOpen = true
            }
            let found: Void? = try connection.nextCopyRow { Self.decode($0, into: &row) }
            guard found != nil else {
                try connection.script("COMMIT")
                return .end
            }
        } catch let error as PostgresError {
            throw Self.failure(error)
        } catch {
            throw Failure(.unavailable, "reading the audience failed", remedy: "run it again")
        }
        number += 1
        guard row.bytes.count <= RowLimits.row else {
            return .refused(
                line: number, reason: "longer than \(RowLimits.row >> 20) MiB", input: storable(row.bytes[...]))
        }
        guard row.count == columns.count else {
            return .refused(
                line: number, reason: "\(row.count) columns where the query has \(columns.count)",
                input: storable(row.bytes[...]))
        }
        return .row(line: number)
    }

    /// Splits COPY's text format at tabs and takes its escapes away; NULL is empty.
    ///
    /// The server has converted the text to UTF-8, in which it never has a NUL.
    private static func decode(_ line: UnsafeRawBufferPointer, into row: inout TemplateRow) {
        row.reset()
        var end = line.count
        if end > 0 && line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        var start = 0
        var index = 0
        row.starts.append(0)
        while index < end {
            let byte = line[index]
            guard byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            row.bytes.append(contentsOf: line[start..<index])
            if byte == UInt8(ascii: "\t") {
                row.ends.append(row.bytes.count)
                row.bytes.append(byte)
                row.starts.append(row.bytes.count)
                index += 1
            } else {
                let letter = index + 1 < end ? line[index + 1] : UInt8(ascii: "\\")
                switch letter {
                case UInt8(ascii: "N"): break
                case UInt8(ascii: "b"): row.bytes.append(0x08)
                case UInt8(ascii: "f"): row.bytes.append(0x0C)
                case UInt8(ascii: "n"): row.bytes.append(0x0A)
                case UInt8(ascii: "r"): row.bytes.append(0x0D)
                case UInt8(ascii: "t"): row.bytes.append(0x09)
                case UInt8(ascii: "v"): row.bytes.append(0x0B)
                default: row.bytes.append(letter)
                }
                index += 2
            }
            start = index
        }
        if start < end { row.bytes.append(contentsOf: line[start..<end]) }
        row.ends.append(row.bytes.count)
    }

    private static func failure(_ error: PostgresError) -> Failure {
        if error.sqlState == .readOnlyTransaction {
            return Failure(.data, "the audience's query wants to write", remedy: "give --audience-sql a SELECT")
        }
        // A protocol violation is what the server calls a query with parameters.
        if error.isConnectionLost && error.sqlState?.rawValue != "08P01" {
            return Failure(.temporary, "the audience's database went away: \(error)", remedy: "run the same line again")
        }
        let what = "the audience's query failed: \(error)"
        switch error.sqlState?.classCode {
        // A rollback that another transaction or a standby's replay forced, too little of something, a timeout.
        case "40", "53", "55", "57", "25":
            return Failure(.temporary, what, remedy: "run the same line again, or raise the timeout for this user")
        default: break
        }
        if error.sqlState == .insufficientPrivilege {
            return Failure(.configuration, what, remedy: "grant this user SELECT on what the query reads")
        }
        return Failure(.data, what, remedy: "try it in psql; it must be one SELECT")
    }
}
