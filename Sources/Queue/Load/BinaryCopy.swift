/// Writing Postgres's binary COPY format.
enum BinaryCopy {
    /// Signature, flags and the length of an extension that is not there.
    static let header: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00, 0, 0, 0, 0, 0, 0, 0, 0]
    static let trailer: [UInt8] = [0xFF, 0xFF]

    /// Microseconds from 1970 to 2000, where Postgres counts from.
    static let epochMicroseconds = 946_684_800_000_000

    static func append(_ value: Int16, to bytes: inout [UInt8]) {
        let value = UInt16(bitPattern: value)
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    static func append(_ value: Int32, to bytes: inout [UInt8]) {
        let value = UInt32(bitPattern: value)
        for shift in stride(from: UInt32(24), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    static func append(_ value: Int64, to bytes: inout [UInt8]) { append(UInt64(bitPattern: value), to: &bytes) }

    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
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
        // Days from civil, counted from 0000-03-01 so that the leap day is a year's last.
        let year = parts[1] <= 2 ? parts[0] - 1 : parts[0]
        let month = parts[1] <= 2 ? parts[1] + 9 : parts[1] - 3
        let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + parts[2] - 1
        return Int32(days - 730_425)
    }
}
