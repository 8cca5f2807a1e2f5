import Delivery

/// A target as it may be shown: its first bytes and a number that tells two apart.
struct RedactedTarget: Sendable, Equatable {
    let kind: TargetKind
    let fingerprint: Fingerprint
    /// The first eight bytes, the first in the highest place.
    private let head: UInt64
    private let count: Int

    init(_ target: MessageTarget, _ fingerprint: Fingerprint) {
        kind = target.kind
        self.fingerprint = fingerprint
        var head: UInt64 = 0
        var count = 0
        for byte in target.value.utf8.prefix(8) {
            head = head << 8 | UInt64(byte)
            count += 1
        }
        self.head = count == 0 ? 0 : head << UInt64(64 - 8 * count)
        self.count = target.value.utf8.count
    }

    /// `abcdef…#1f0c9a77`, or the whole of a text too short for a device's token.
    var text: String {
        let shown = count <= 8 ? count : 6
        let bytes = (0..<shown).map { UInt8(truncatingIfNeeded: head >> UInt64(56 - 8 * $0)) }
        let start = String(decoding: bytes, as: UTF8.self)
        guard count > 8 else { return start }
        let digits = String(fingerprint.value >> 32, radix: 16)
        return "\(start)…#" + String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}
