/// The arrays that libpq wants for a statement's parameters, with all bytes in one block.
struct ParameterArrays {
    private var storage: [UInt8] = []
    /// Start in `storage`, or -1 for NULL.
    private var starts: [Int] = []
    private var types: [UInt32] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// libpq counts parameters in 16 bits.
    private static let maximumCount = 65_535
    private static let bytea: UInt32 = 17

    init(_ values: [Value]) throws(PostgresError) {
        guard values.count <= Self.maximumCount else {
            throw PostgresError(.usage, message: "a statement takes at most \(Self.maximumCount) parameters")
        }
        starts.reserveCapacity(values.count)
        types.reserveCapacity(values.count)
        lengths.reserveCapacity(values.count)
        formats.reserveCapacity(values.count)
        for value in values {
            switch value {
            case .null: append(start: -1, type: 0, isBinary: false)
            case .text(let text): try appendText(text.utf8)
            case .utf8(let bytes): try appendText(bytes)
            case .int(let number): try appendText(String(number).utf8)
            case .bytes(let bytes): appendBinary(bytes, type: Self.bytea)
            case .binary(let bytes, let type): appendBinary(bytes, type: type)
            }
        }
    }

    private mutating func appendBinary(_ bytes: [UInt8], type: UInt32) {
        let start = storage.count
        storage.append(contentsOf: bytes)
        append(start: start, type: type, isBinary: true)
    }

    private mutating func appendText(_ text: some Collection<UInt8>) throws(PostgresError) {
        let start = storage.count
        storage.append(contentsOf: text)
        // libpq takes text up to the first NUL, and would cut the value short without a word.
        guard !storage[start...].contains(0) else {
            throw PostgresError(.usage, message: "a text parameter contains a NUL character")
        }
        append(start: start, type: 0, isBinary: false)
    }

    private mutating func append(start: Int, type: UInt32, isBinary: Bool) {
        starts.append(start)
        types.append(type)
        lengths.append(Int32(clamping: start < 0 ? 0 : storage.count - start))
        formats.append(isBinary ? 1 : 0)
        storage.append(0)
    }

    typealias CString = UnsafePointer<CChar>

    /// Runs `body` with (count, types, values, lengths, formats); the pointers are good until it returns.
    func withPointers<R>(
        _ body: (
            Int32, UnsafePointer<UInt32>?, UnsafePointer<CString?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
        ) -> R
    ) -> R {
        guard !starts.isEmpty else { return body(0, nil, nil, nil, nil) }
        return storage.withUnsafeBytes { bytes in
            let values: [CString?] = starts.map { start in
                start < 0 ? nil : bytes.baseAddress.map { ($0 + start).assumingMemoryBound(to: CChar.self) }
            }
            return body(Int32(starts.count), types, values, lengths, formats)
        }
    }
}
