/// The lines of an input, one at a time, each up to a limit.
package struct LineReader {
    private var input: ByteReader
    private let limit: Int
    /// The present line without its end; of one that is too long only its beginning.
    package private(set) var bytes: [UInt8] = []
    /// The number of the present line, from 1.
    package private(set) var number = 0
    /// The present line is longer than the limit.
    package private(set) var isTooLong = false

    /// Lines of at most `limit` bytes.
    package init(_ source: ByteReader, limit: Int) {
        input = source
        self.limit = limit
    }

    /// How much of the input has been used.
    package var bytesTaken: Int { input.bytesBefore + input.position }

    /// The line holds nothing but spaces, tabs and a carriage return.
    package var isBlank: Bool { !isTooLong && bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }

    /// Goes to the next line; `false` at the end of the input.
    ///
    /// A byte order mark before the first line is left out. Memory is that of the longest line, at most the limit.
    package mutating func next() throws(Failure) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        isTooLong = false
        guard try input.hasByte() else { return false }
        number += 1
        while try input.hasByte() {
            let start = input.position
            let end = input.buffer[start...].withUnsafeBufferPointer { $0.firstIndex(of: UInt8(ascii: "\n")) }
                .map { $0 + start }
            append(start..<(end ?? input.buffer.count))
            input.position = end.map { $0 + 1 } ?? input.buffer.count
            if end != nil { break }
        }
        if number == 1 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        return true
    }

    private mutating func append(_ range: Range<Int>) {
        let room = limit - bytes.count
        if range.count > room { isTooLong = true }
        bytes.append(contentsOf: input.buffer[range.prefix(max(0, room))])
    }
}
