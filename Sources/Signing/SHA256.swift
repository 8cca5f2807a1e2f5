import CCrypto

/// SHA-256 in one call; for many digests keep a `SHA256Hasher`.
package enum SHA256 {
    /// Bytes in a digest.
    package static let byteCount = 32

    /// The 32 bytes of the digest.
    package static func digest(_ bytes: Span<UInt8>) -> [UInt8] {
        bytes.withUnsafeBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: byteCount) { output, filled in
                CCrypto.SHA256(input.baseAddress, input.count, output.baseAddress)
                filled = byteCount
            }
        }
    }

    /// The digest as 64 lower-case hex digits.
    package static func hex(_ bytes: Span<UInt8>) -> String {
        let digits = [UInt8]("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * byteCount)
        for byte in digest(bytes) {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
