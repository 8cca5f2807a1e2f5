import CCrypto

/// An X.509 certificate, made and signed at once.
final class Certificate {
    private let raw: OpaquePointer

    /// Builds a version 3 certificate valid from a day ago; without an issuer it is its own.
    init(
        subject: String, issuer: Certificate?, subjectKey: PrivateKey, signer: PrivateKey, lifetimeSeconds: Int,
        extensions: [(identifier: Int32, value: String)]
    ) throws(SigningError) {
        guard let raw = X509_new() else { throw .fromLibrary("no memory for a certificate") }
        var isComplete = false
        defer { if !isComplete { X509_free(raw) } }

        // A day of slack, since a client's clock may be behind.
        guard X509_set_version(raw, 2) == 1, Self.setRandomSerial(raw),
            X509_gmtime_adj(X509_getm_notBefore(raw), -86_400) != nil,
            X509_gmtime_adj(X509_getm_notAfter(raw), lifetimeSeconds) != nil,
            X509_set_pubkey(raw, subjectKey.raw) == 1,
            let name = X509_get_subject_name(raw),
            X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, "Todoke", -1, -1, 0) == 1,
            X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, subject, -1, -1, 0) == 1,
            X509_set_issuer_name(raw, X509_get_subject_name(issuer?.raw ?? raw)) == 1
        else { throw .fromLibrary("a certificate cannot be made") }

        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer?.raw ?? raw, raw, nil, nil, 0)
        for (identifier, value) in extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, identifier, value)
            else { throw .fromLibrary("a certificate extension cannot be made") }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(raw, made, -1) == 1 else { throw .fromLibrary("a certificate cannot be made") }
        }
        guard X509_sign(raw, signer.raw, EVP_sha256()) > 0 else { throw .fromLibrary("a certificate cannot be signed") }
        isComplete = true
        self.raw = raw
    }

    deinit { X509_free(raw) }

    func pem() throws(SigningError) -> [UInt8] {
        let bio = try MemoryBIO()
        guard PEM_write_bio_X509(bio.raw, raw) == 1 else { throw .fromLibrary("a certificate cannot be written") }
        return bio.takeBytes()
    }

    private static func setRandomSerial(_ certificate: OpaquePointer) -> Bool {
        var generator = SystemRandomNumberGenerator()
        return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), generator.next() >> 1 | 1) == 1
    }
}
