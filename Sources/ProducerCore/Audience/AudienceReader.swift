import Delivery
import Operations

/// What reading one row came to.
enum AudienceRow: Equatable {
    /// The row is in the buffer that was passed in.
    case row(line: Int)
    /// The row cannot be used; the next one may be.
    case refused(line: Int, reason: String, input: String)
    case end
}

/// An audience that is read row by row into one reused buffer, from whatever it comes.
protocol AudienceReader {
    /// The names of a row's fields, known before the first row.
    var columns: [String] { get }
    /// Bytes of the input taken so far, for progress; 0 where that says nothing.
    var bytesTaken: Int { get }
    /// Reads the next row; lines count from 1.
    mutating func next(into row: inout TemplateRow) throws(Failure) -> AudienceRow
}

enum AudienceLimits {
    /// Bytes in one row: more is a quote that nobody closed, or not an audience.
    static let row = 1 << 20
    /// Bytes of a refused row that are kept.
    static let keptInput = 2_000
}

/// Refused input as text that Postgres takes: cut, with NUL and invalid bytes made visible.
func storable(_ bytes: ArraySlice<UInt8>) -> String {
    let text = String(decoding: bytes.prefix(AudienceLimits.keptInput), as: UTF8.self)
    guard text.utf8.contains(0) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{2400}" : $0 }))
}

/// Why bytes cannot be text in Postgres; `nil` when they can.
func textFault(_ bytes: [UInt8]) -> String? {
    let span = bytes.span
    if (try? UTF8Span(validating: span)) == nil { return "not valid UTF-8" }
    return span.withUnsafeBufferPointer { $0.contains(0) } ? "contains NUL (U+0000)" : nil
}
