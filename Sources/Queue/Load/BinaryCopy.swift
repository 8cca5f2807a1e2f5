import Delivery

/// Writing Postgres's binary COPY format.
enum BinaryCopy {
    /// Signature, flags and the length of an extension that is not there.
    static let header: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00, 0, 0, 0, 0, 0, 0, 0, 0]
    static let trailer: [UInt8] = [0xFF, 0xFF]

    /// Microseconds from 1970 to 2000, where Postgres counts from.
    static let epochMicroseconds = 946_684_800_000_000

    /// An integer as it goes over the wire: the highest byte first.
    static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    static func set(_ value: Int64, at offset: Int, in bytes: inout [UInt8]) {
        let value = UInt64(bitPattern: value)
        for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * index)) }
    }

    /// A field's length, for a field whose bytes follow.
    static func field(_ length: Int, to bytes: inout [UInt8]) { append(Int32(truncatingIfNeeded: length), to: &bytes) }

    static func null(to bytes: inout [UInt8]) { append(Int32(-1), to: &bytes) }

    /// Days since 2000-01-01 of a `YYYY-MM-DD`, as Postgres writes a date in binary.
    static func days(_ text: String) -> Int32? {
        let parts = text.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3 else { return nil }
        let days = CivilDate.daysSince1970(year: parts[0], month: parts[1], day: parts[2])
        return Int32(exactly: days - epochMicroseconds / 86_400_000_000)
    }
}
