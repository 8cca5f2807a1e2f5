/// One row of the audience: the fields' bytes one after the other in a buffer that is reused from row to row.
package struct TemplateRow: Sendable {
    /// The fields' bytes; what stands between two fields does not matter.
    package var bytes: [UInt8] = []
    /// Where each field starts in `bytes`; -1 for a field that the row does not have.
    package var starts: [Int] = []
    /// Where each field ends in `bytes`.
    package var ends: [Int] = []

    package init() {}

    /// A row of these values, for probes and tests.
    package init(_ values: [String]) {
        for value in values {
            let start = bytes.count
            bytes.append(contentsOf: value.utf8)
            starts.append(start)
            ends.append(bytes.count)
        }
    }

    package var count: Int { starts.count }

    /// Empties the row and keeps its memory.
    package mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// The field's text, for messages and tests; hot code takes the bytes.
    package func text(_ field: Int) -> String {
        starts[field] < 0 ? "" : String(decoding: bytes[starts[field]..<ends[field]], as: UTF8.self)
    }

    /// Whether the row has the field; only NDJSON rows may lack one.
    package func has(_ field: Int) -> Bool { starts[field] >= 0 }
}
