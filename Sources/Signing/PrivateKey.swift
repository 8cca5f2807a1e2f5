import CCrypto

/// A private key in libcrypto's keeping: signs, verifies its own signatures, and writes itself as PEM.
package final class PrivateKey {
    let raw: OpaquePointer

    init(taking raw: OpaquePointer) { self.raw = raw }

    deinit { EVP_PKEY_free(raw) }

    /// Reads a key in PEM, PKCS#8 or traditional, that has no passphrase.
    package convenience init(pem: [UInt8]) throws(SigningError) {
        let raw = MemoryBIO.reading(pem) { bio in
            // The callback gives no passphrase: without it libcrypto would ask at the terminal.
            PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil)
        }
        guard let raw else { throw .fromLibrary("the private key cannot be read") }
        self.init(taking: raw)
    }

    /// A fresh RSA key; 2048 bits is what Google's service accounts have.
    package static func generateRSA(bits: Int = 2048) throws(SigningError) -> PrivateKey {
        try generate(EVP_PKEY_RSA) { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(clamping: bits)) > 0 }
    }

    /// A fresh key on P-256, for certificates.
    package static func generateP256() throws(SigningError) -> PrivateKey {
        try generate(EVP_PKEY_EC) { EVP_PKEY_CTX_set_ec_paramgen_curve_nid($0, NID_X9_62_prime256v1) > 0 }
    }

    private static func generate(
        _ kind: Int32, _ configure: (OpaquePointer) -> Bool
    ) throws(SigningError) -> PrivateKey {
        var key: OpaquePointer?
        guard let context = EVP_PKEY_CTX_new_id(kind, nil) else { throw .fromLibrary("no key can be made") }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_keygen_init(context) > 0, configure(context), EVP_PKEY_keygen(context, &key) > 0, let key
        else { throw .fromLibrary("no key can be made") }
        return PrivateKey(taking: key)
    }

    /// Whether this is an RSA key, the only kind that RS256 works with.
    package var isRSA: Bool { EVP_PKEY_get_base_id(raw) == EVP_PKEY_RSA }

    /// The key as unencrypted PKCS#8 PEM, the form of a service-account file.
    package func pkcs8PEM() throws(SigningError) -> [UInt8] {
        let bio = try MemoryBIO()
        guard PEM_write_bio_PKCS8PrivateKey(bio.raw, raw, nil, nil, 0, nil, nil) == 1
        else { throw .fromLibrary("the private key cannot be written") }
        return bio.takeBytes()
    }

    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3); throws when the key is not RSA.
    package func signRS256(_ bytes: [UInt8]) throws(SigningError) -> [UInt8] {
        guard isRSA else { throw SigningError("the private key is not an RSA key, which RS256 needs") }
        guard let context = EVP_MD_CTX_new() else { throw .fromLibrary("no memory for a signature") }
        defer { EVP_MD_CTX_free(context) }
        var count = 0
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, raw) == 1,
            EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
        else { throw .fromLibrary("signing failed") }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
        else { throw .fromLibrary("signing failed") }
        signature.removeLast(signature.count - count)
        return signature
    }

    /// Whether `signature` is this key's RS256 signature of `bytes`.
    package func verifyRS256(_ bytes: [UInt8], signature: [UInt8]) -> Bool {
        guard isRSA, let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, raw) == 1
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }
}
