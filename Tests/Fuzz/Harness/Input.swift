/// The parts of an input; corpus files stay readable that way.
extension Span where Element == UInt8 {
    /// A copy, for what takes arrays.
    var array: [UInt8] { withUnsafeBufferPointer { Array($0) } }

    /// As text, with what is not UTF-8 repaired.
    var text: String { withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
}

extension [UInt8] {
    /// What stands before and behind the first line that is exactly `---`; all of it and nothing when there is none.
    var halves: (first: [UInt8], second: [UInt8]) {
        guard let range = firstRange(of: Array("\n---\n".utf8)) else { return (self, []) }
        return (Array(self[..<range.lowerBound]), Array(self[range.upperBound...]))
    }

    /// Its lines, without their ends.
    var lines: [[UInt8]] {
        split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Array($0) }
    }

    var text: String { String(decoding: self, as: UTF8.self) }
}

extension String {
    /// Without NUL, which no argument, environment variable or column of Postgres can hold.
    var withoutNUL: String { String(unicodeScalars.filter { $0.value != 0 }.map(Character.init)) }
}
