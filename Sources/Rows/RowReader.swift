package import Delivery
package import Operations

/// What reading one row came to.
package enum ReadRow: Equatable {
    /// The row is in the buffer that was passed in.
    case row(line: Int)
    /// The row cannot be used; the next one may be.
    case refused(line: Int, reason: String, input: String)
    /// The row is right and there is nobody to send to, such as for a user without a device.
    case skipped(line: Int)
    case end
}

/// Rows that are read one by one into one reused buffer, from whatever they come.
package protocol RowReader {
    /// The names of a row's fields, known before the first row.
    var columns: [String] { get }
    /// Bytes of the input taken so far, for progress; 0 where that says nothing.
    var bytesTaken: Int { get }
    /// Reads the next row; lines count from 1.
    mutating func next(into row: inout TemplateRow) throws(Failure) -> ReadRow
}

package enum RowLimits {
    /// Bytes in one row: more is a quote that nobody closed, or no list of rows.
    package static let row = 1 << 20
    /// Bytes of a refused row that are kept.
    package static let keptInput = 2_000
    /// Characters of a column's name that errors show.
    package static let shownName = 20
    /// Bytes of white space before the first character: more is no list of rows.
    package static let leadingSpace = 64 << 10
}

/// Refused input as text that Postgres takes: cut, with NUL and invalid bytes made visible.
package func storable(_ bytes: ArraySlice<UInt8>) -> String {
    let text = String(decoding: bytes.prefix(RowLimits.keptInput), as: UTF8.self)
    guard text.utf8.contains(0) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{2400}" : $0 }))
}

/// Why bytes cannot be text in Postgres; `nil` when they can.
///
/// `line` is where the bytes begin; a fault on a later one is told with its own.
package func textFault(_ bytes: [UInt8], line: Int? = nil) -> String? {
    let fault: (reason: String, at: Int)
    do throws(UTF8.ValidationError) {
        _ = try UTF8Span(validating: bytes.span)
        guard let nul = bytes.firstIndex(of: 0) else { return nil }
        fault = ("contains NUL (U+0000)", nul)
    } catch {
        fault = ("not valid UTF-8", error.byteOffsets.lowerBound)
    }
    let lines = bytes[..<fault.at].count { $0 == UInt8(ascii: "\n") }
    guard let line, lines > 0 else { return fault.reason }
    return "\(fault.reason) on line \(line + lines)"
}

/// The first name that is there a second time.
package func repeated(_ columns: [String]) -> String? {
    var seen: Set<String> = []
    return columns.first { !seen.insert($0).inserted }
}

/// A column's name for an error text, cut: without a header line it is a row's value, and that may be a device token.
package func shownColumn(_ name: String) -> String {
    let start = name.unicodeScalars.prefix(RowLimits.shownName)
    return start.endIndex == name.unicodeScalars.endIndex ? name : String(start) + "…"
}
