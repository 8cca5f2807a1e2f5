/// Arrays as parameters in the server's binary format: neither side turns numbers into digits or quotes texts.
///
/// One dimension, counted from 1; the layout is that of `array_send`.
package enum BinaryArray {
    private static let int4: (array: UInt32, element: UInt32) = (1_007, 23)
    private static let int8: (array: UInt32, element: UInt32) = (1_016, 20)
    private static let text: (array: UInt32, element: UInt32) = (1_009, 25)

    /// `bigint[]`.
    package static func int8(_ elements: some Collection<Int>) -> Value {
        var bytes = header(count: elements.count, hasNulls: false, int8.element, room: elements.count * 12)
        for element in elements {
            append(UInt32(8), to: &bytes)
            append(Int64(element), to: &bytes)
        }
        return .binary(bytes, type: int8.array)
    }

    /// `int[]`; what does not fit into 32 bits becomes the nearest number that does.
    package static func int4(_ elements: some Collection<Int>) -> Value {
        var bytes = header(count: elements.count, hasNulls: false, int4.element, room: elements.count * 8)
        for element in elements {
            append(UInt32(4), to: &bytes)
            append(Int32(clamping: element), to: &bytes)
        }
        return .binary(bytes, type: int4.array)
    }

    /// `text[]`; `nil` is NULL.
    ///
    /// The server refuses a text with a NUL character.
    package static func text(_ elements: some Collection<String?>) -> Value {
        var bytes = header(count: elements.count, hasNulls: true, text.element, room: elements.count * 48)
        for element in elements {
            guard let element else {
                append(UInt32.max, to: &bytes)
                continue
            }
            let utf8 = element.utf8
            append(UInt32(utf8.count), to: &bytes)
            bytes.append(contentsOf: utf8)
        }
        return .binary(bytes, type: text.array)
    }

    private static func header(count: Int, hasNulls: Bool, _ element: UInt32, room: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + room)
        // An empty array has no dimension.
        append(UInt32(count == 0 ? 0 : 1), to: &bytes)
        append(UInt32(hasNulls ? 1 : 0), to: &bytes)
        append(element, to: &bytes)
        if count > 0 {
            append(UInt32(count), to: &bytes)
            append(UInt32(1), to: &bytes)
        }
        return bytes
    }

    private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
