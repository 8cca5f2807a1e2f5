import Delivery
import Operations
import Rows

@testable import ProducerCore

/// Bytes in pieces of this size.
func pieces(_ bytes: [UInt8], of size: Int) -> ByteReader {
    var rest = bytes[...]
    return ByteReader { (buffer) throws(Failure) in
        buffer = Array(rest.prefix(size))
        rest = rest.dropFirst(size)
    }
}

/// Bytes in two pieces, the first of this length.
func pieces(_ bytes: [UInt8], splitAt index: Int) -> ByteReader {
    var parts = [Array(bytes[..<index]), Array(bytes[index...])].filter { !$0.isEmpty }
    return ByteReader { (buffer) throws(Failure) in buffer = parts.isEmpty ? [] : parts.removeFirst() }
}

/// A row as the tests write it: its line and fields, or why it is refused; a field that is not there is `∅`.
func rows(_ reader: some RowReader) throws -> [String] {
    var reader = reader
    var row = TemplateRow()
    var found: [String] = []
    while true {
        switch try reader.next(into: &row) {
        case .end: return found
        case .refused(let line, let reason, _): found.append("\(line)! \(reason)")
        case .skipped(let line): found.append("\(line)-")
        case .row(let line):
            let fields = (0..<row.count).map { row.has($0) ? row.text($0) : "∅" }
            found.append("\(line): " + fields.joined(separator: "|"))
        }
    }
}
