/// A key of an object, with the hash of its text: equal texts have equal hashes however they are escaped.
package struct JSONKey: Sendable {
    package let string: JSONString
    let hash: UInt64

    init(_ string: JSONString, in bytes: Span<UInt8>) {
        self.string = string
        hash = string.withContents(in: bytes) { Self.hash($0) }
    }

    /// FNV-1a with 64 bits: short keys, no table, and the same value in every run.
    static func hash(_ text: Span<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<text.count { hash = (hash ^ UInt64(text[index])) &* 0x100_0000_01B3 }
        return hash
    }

    func hasSameText(as other: JSONKey, in bytes: Span<UInt8>) -> Bool {
        guard string.length == other.string.length else { return false }
        return string.withContents(in: bytes) { mine in
            other.string.withContents(in: bytes) { theirs in
                for index in 0..<mine.count where mine[index] != theirs[index] { return false }
                return true
            }
        }
    }
}
