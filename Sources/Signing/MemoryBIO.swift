import CCrypto

/// A growing or read-only buffer that libcrypto writes PEM into or reads it from.
struct MemoryBIO: ~Copyable {
    let raw: OpaquePointer

    /// An empty buffer to write into.
    init() throws(SigningError) {
        guard let raw = BIO_new(BIO_s_mem()) else { throw .fromLibrary("no memory for a buffer") }
        self.raw = raw
    }

    deinit { BIO_free_all(raw) }

    /// Everything written so far; reads it out, so a second call gives nothing.
    borrowing func takeBytes() -> [UInt8] {
        let count = BIO_ctrl_pending(raw)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, Int(BIO_read(raw, buffer.baseAddress, Int32(clamping: count))))
        }
    }

    /// Runs `body` with a read-only view of `bytes`, which must not outlive the call.
    static func reading<Result>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Result?) -> Result? {
        bytes.withUnsafeBytes { buffer in
            guard let raw = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
            defer { BIO_free_all(raw) }
            return body(raw)
        }
    }
}
