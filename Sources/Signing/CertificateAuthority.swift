import CCrypto

/// A throwaway certificate authority for loopback servers: its key never leaves the process.
package final class CertificateAuthority {
    /// A server's certificate and its private key, both PEM.
    package struct ServerIdentity: Sendable {
        package let certificatePEM: [UInt8]
        package let privateKeyPEM: [UInt8]
    }

    /// A year.
    package static let lifetimeSeconds = 365 * 86_400

    private let key: PrivateKey
    private let certificate: Certificate

    /// Makes a fresh P-256 key and a self-signed certificate that lives for a year.
    package init(commonName: String) throws(SigningError) {
        key = try .generateP256()
        certificate = try Certificate(
            subject: commonName, issuer: nil, subjectKey: key, signer: key, lifetimeSeconds: Self.lifetimeSeconds,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ])
    }

    /// The authority's own certificate, for the clients' list of trusted ones.
    package func certificatePEM() throws(SigningError) -> [UInt8] { try certificate.pem() }

    /// A new server certificate with its own key; names are DNS names, addresses IPv4 or IPv6.
    ///
    /// It is valid from a day ago until so many seconds from now; a negative number makes one that has expired.
    package func issueServer(
        names: [String] = ["localhost"], addresses: [String] = ["127.0.0.1", "::1"],
        lifetimeSeconds: Int = CertificateAuthority.lifetimeSeconds
    ) throws(SigningError) -> ServerIdentity {
        let alternatives = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
        let serverKey = try PrivateKey.generateP256()
        let server = try Certificate(
            subject: names.first ?? addresses.first ?? "server", issuer: certificate, subjectKey: serverKey,
            signer: key, lifetimeSeconds: lifetimeSeconds,
            extensions: [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"),
                (NID_subject_key_identifier, "hash"),
                (NID_authority_key_identifier, "keyid:always"),
                (NID_subject_alt_name, alternatives.joined(separator: ",")),
            ])
        return try ServerIdentity(certificatePEM: server.pem(), privateKeyPEM: serverKey.pkcs8PEM())
    }
}
