/// What makes two rows of an audience the same message: 16 bytes of a digest, which Postgres keeps as a uuid.
package struct DedupeKey: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// The first 16 bytes of a digest.
    package init(digest: [UInt8]) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<8 {
            high = high << 8 | UInt64(digest[index])
            low = low << 8 | UInt64(digest[index + 8])
        }
        self.high = high
        self.low = low
    }

    /// Its two halves, as Postgres gives them out in two bigints.
    init(high: Int, low: Int) {
        self.high = UInt64(bitPattern: Int64(high))
        self.low = UInt64(bitPattern: Int64(low))
    }

    /// Where the key lies between 0 and `whole`: for digests evenly, and the same each time.
    package func share(of whole: UInt64) -> UInt64 { high.multipliedFullWidth(by: whole).high }

    /// 32 hex digits, which Postgres reads as a uuid.
    func appendHex(to bytes: inout [UInt8]) {
        for word in [high, low] {
            for shift in stride(from: UInt64(60), through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: word >> shift) & 15
                bytes.append(digit < 10 ? digit + 48 : digit + 87)
            }
        }
    }
}
