import CLibPQ

/// The rows of one statement, in the format that was asked for.
///
/// Rows and columns count from 0; a cell outside of them reads as NULL. In binary format ``int(_:_:)`` reads integers of
/// any width and times (microseconds since 2000), ``bool(_:_:)`` booleans, and the others texts and JSON.
package final class QueryResult {
    private let raw: OpaquePointer
    private let isBinary: Bool

    package let rowCount: Int
    package let columnCount: Int

    /// Takes over `raw`, which is cleared with this object.
    init(owning raw: OpaquePointer) {
        self.raw = raw
        rowCount = Int(PQntuples(raw))
        columnCount = Int(PQnfields(raw))
        isBinary = PQbinaryTuples(raw) == 1
    }

    deinit { PQclear(raw) }

    /// Rows that INSERT, UPDATE, DELETE, MERGE, COPY touched or SELECT returned; 0 for other commands.
    package var affectedRows: Int {
        guard let text = PQcmdTuples(raw) else { return 0 }
        return Int(String(cString: text)) ?? 0
    }

    package func columnName(_ column: Int) -> String? {
        guard (0..<columnCount).contains(column), let name = PQfname(raw, Int32(column)) else { return nil }
        return String(cString: name)
    }

    /// The first column of that exact name.
    package func column(named name: String) -> Int? {
        (0..<columnCount).first { columnName($0) == name }
    }

    package func isNull(_ row: Int, _ column: Int) -> Bool {
        // libpq would report a wrong index through the connection, which may be gone by now.
        guard (0..<rowCount).contains(row), (0..<columnCount).contains(column) else { return true }
        return PQgetisnull(raw, Int32(row), Int32(column)) == 1
    }

    /// The cell as text; empty for NULL.
    package func string(_ row: Int, _ column: Int) -> String { optionalString(row, column) ?? "" }

    /// The cell as text, nil for NULL.
    package func optionalString(_ row: Int, _ column: Int) -> String? {
        guard !isNull(row, column) else { return nil }
        return withBytes(row, column) { String(decoding: $0, as: UTF8.self) }
    }

    /// The cell as an integer; nil for NULL and for anything else.
    package func int(_ row: Int, _ column: Int) -> Int? {
        guard !isNull(row, column) else { return nil }
        return withBytes(row, column) { isBinary ? Self.binaryInteger($0) : Self.integer($0) }
    }

    /// The cell as a floating-point number; nil for NULL and for anything else.
    package func double(_ row: Int, _ column: Int) -> Double? { optionalString(row, column).flatMap { Double($0) } }

    /// The cell as a boolean; nil for NULL and for anything else.
    package func bool(_ row: Int, _ column: Int) -> Bool? {
        guard !isNull(row, column) else { return nil }
        return withBytes(row, column) { cell in
            guard cell.count == 1 else { return nil }
            if isBinary { return cell[0] != 0 }
            return cell[0] == UInt8(ascii: "t") ? true : cell[0] == UInt8(ascii: "f") ? false : nil
        }
    }

    /// The text of the cell as bytes: UTF-8, not decoded in any way; empty for NULL.
    package func bytes(_ row: Int, _ column: Int) -> [UInt8] { withBytes(row, column) { Array($0) } }

    /// A `bytea` cell (`\x…`) as the bytes it stands for; nil for NULL and for anything else.
    package func bytea(_ row: Int, _ column: Int) -> [UInt8]? {
        guard !isNull(row, column) else { return nil }
        return withBytes(row, column) { HexText.decode($0) }
    }

    /// Lends the cell's text without a copy; empty for NULL.
    package func withBytes<R, E>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        guard !isNull(row, column), let start = PQgetvalue(raw, Int32(row), Int32(column)) else {
            return try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return try body(UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(raw, Int32(row), Int32(column)))))
    }

    /// Lends the cell's text as a span; empty for NULL.
    package func withSpan<R, E>(
        _ row: Int, _ column: Int, _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        try withBytes(row, column) { (cell) throws(E) -> R in
            try body(cell.assumingMemoryBound(to: UInt8.self).span)
        }
    }

    private static func binaryInteger(_ cell: UnsafeRawBufferPointer) -> Int? {
        switch cell.count {
        case 8: Int(Int64(bigEndian: cell.loadUnaligned(as: Int64.self)))
        case 4: Int(Int32(bigEndian: cell.loadUnaligned(as: Int32.self)))
        case 2: Int(Int16(bigEndian: cell.loadUnaligned(as: Int16.self)))
        default: nil
        }
    }

    private static func integer(_ cell: UnsafeRawBufferPointer) -> Int? {
        let isNegative = cell.first == UInt8(ascii: "-")
        let digits = isNegative ? cell.dropFirst() : cell[...]
        guard !digits.isEmpty else { return nil }
        var value = 0
        for byte in digits {
            guard (48...57).contains(byte) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.subtractingReportingOverflow(Int(byte - 48))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        // Built up below zero, where the smallest integer fits too.
        return isNegative ? value : (value == Int.min ? nil : -value)
    }
}
