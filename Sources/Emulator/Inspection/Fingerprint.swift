import Delivery

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// 64 bits that stand for a text; two texts share them once in 10¹⁹ pairs.
struct Fingerprint: Hashable, Sendable {
    let value: UInt64

    init(value: UInt64) { self.value = value }

    init(_ target: MessageTarget) {
        var text = target.value
        let seed = UInt64(target.kind.rawValue.utf8.count)
        self = text.withUTF8 { Fingerprint(UnsafeRawBufferPointer($0), seed: seed) }
    }

    init(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) {
        var hash = seed ^ 0x9E37_79B9_7F4A_7C15 ^ UInt64(bytes.count)
        var offset = 0
        while bytes.count - offset >= 8 {
            hash = Self.mix(hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var tail: UInt64 = 0
        while offset < bytes.count {
            tail = tail << 8 | UInt64(bytes[offset])
            offset += 1
        }
        value = Self.mix(Self.mix(hash ^ tail))
    }

    /// The fingerprint of a message: of its target and its `notification_id`, or else of all its bytes.
    ///
    /// A sender may write another TTL into a repeated message, which the id survives.
    init(message: Span<UInt8>, to target: Fingerprint) {
        self = message.withUnsafeBytes { bytes in
            Fingerprint(NotificationID.find(in: bytes) ?? bytes, seed: target.value)
        }
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}

/// Finds the value of the first `"notification_id"` in a message's bytes.
private enum NotificationID {
    private static let name: [UInt8] = Array("\"notification_id\"".utf8)
    /// Where the underscore stands in the name.
    private static let underscore = 13

    static func find(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard var position = end(ofNameIn: bytes) else { return nil }
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            guard [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":")].contains(bytes[position]) else { return nil }
            position += 1
        }
        let start = position + 1
        position = start
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard start < position, position < bytes.count else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
    }

    /// Looks for the underscore, which is rarer in a message than anything else in the name.
    private static func end(ofNameIn bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress else { return nil }
        var position = underscore
        while position < bytes.count,
            let found = memchr(start + position, Int32(UInt8(ascii: "_")), bytes.count - position)
        {
            position = UnsafeRawPointer(found) - start
            let first = position - underscore
            if name.count <= bytes.count - first,
                UnsafeRawBufferPointer(rebasing: bytes[first..<first + name.count]).elementsEqual(name)
            {
                return first + name.count
            }
            position += 1
        }
        return nil
    }
}
