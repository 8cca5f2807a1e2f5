import CCrypto

/// A SHA-256 that is set up once and used for many digests: the algorithm is fetched once, the context reused.
package final class SHA256Hasher {
    private let algorithm: OpaquePointer
    private let context: OpaquePointer

    package init() throws(SigningError) {
        guard let algorithm = EVP_MD_fetch(nil, "SHA256", nil) else { throw .fromLibrary("SHA-256 is not available") }
        guard let context = EVP_MD_CTX_new() else {
            EVP_MD_free(algorithm)
            throw .fromLibrary("no memory for a digest")
        }
        self.algorithm = algorithm
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
        EVP_MD_free(algorithm)
    }

    /// Begins a new digest and forgets what was added before.
    package func start() throws(SigningError) {
        guard EVP_DigestInit_ex2(context, algorithm, nil) == 1 else { throw .fromLibrary("SHA-256 failed") }
    }

    /// Adds bytes to the digest that `start` began.
    package func update(_ bytes: Span<UInt8>) throws(SigningError) {
        let added = bytes.withUnsafeBufferPointer { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        guard added == 1 else { throw .fromLibrary("SHA-256 failed") }
    }

    /// Ends the digest; `output` takes its 32 bytes, without an allocation once it has the capacity.
    package func finish(into output: inout [UInt8]) throws(SigningError) {
        let missing = SHA256.byteCount - output.count
        if missing > 0 { output.append(contentsOf: repeatElement(0, count: missing)) }
        if missing < 0 { output.removeLast(-missing) }
        guard EVP_DigestFinal_ex(context, &output, nil) == 1 else { throw .fromLibrary("SHA-256 failed") }
    }

    /// The digest of one piece of bytes into `output`.
    package func digest(_ bytes: Span<UInt8>, into output: inout [UInt8]) throws(SigningError) {
        try start()
        try update(bytes)
        try finish(into: &output)
    }
}
