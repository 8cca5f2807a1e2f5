/// Bytes of an input, a piece at a time: the whole is never held.
package struct ByteReader {
    /// The present piece.
    package private(set) var buffer: [UInt8] = []
    /// The next byte of it that has not been taken.
    package var position = 0
    /// Bytes taken with the pieces before this one.
    package private(set) var bytesBefore = 0
    /// Replaces the buffer's contents by the next bytes; none at the end.
    private let fill: (inout [UInt8]) throws(Failure) -> Void

    package static let pieceBytes = 256 << 10

    package init(fill: @escaping (inout [UInt8]) throws(Failure) -> Void) {
        self.fill = fill
    }

    /// Gets the next piece once this one is used up; `false` at the end.
    package mutating func refill() throws(Failure) -> Bool {
        bytesBefore += buffer.count
        position = 0
        try fill(&buffer)
        return !buffer.isEmpty
    }

    /// Whether a byte is at `position`, getting another piece if need be.
    package mutating func hasByte() throws(Failure) -> Bool {
        if position < buffer.count { return true }
        return try refill()
    }

    /// The next byte, not taken.
    package mutating func peek() throws(Failure) -> UInt8? {
        try hasByte() ? buffer[position] : nil
    }
}
