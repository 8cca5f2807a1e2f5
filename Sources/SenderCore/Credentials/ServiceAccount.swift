import Operations
import Signing

/// A Google service account's key: who we are, and where to ask for an access token.
struct ServiceAccount {
    let path: String
    let clientEmail: String
    let privateKeyID: String
    let key: PrivateKey
    /// Where the JWT grant goes; `https://oauth2.googleapis.com/token` in Google's own files.
    let tokenURL: String
    let quotaProject: String?

    init(_ file: KeyFile) throws(Failure) {
        path = file.path
        clientEmail = try file.required("client_email")
        privateKeyID = try file.required("private_key_id")
        _ = try file.required("token_uri")
        tokenURL = try file.tokenURL()
        quotaProject = try file.quotaProject()
        let pem = try file.required("private_key")
        try file.checkUniverse()
        do {
            key = try PrivateKey(pem: Array(pem.utf8))
        } catch {
            throw file.malformed("\"private_key\" cannot be read as a PEM key")
        }
        guard key.isRSA else { throw file.malformed("\"private_key\" is not an RSA key") }
    }

    /// The form body of a JWT grant (RFC 7523) signed at `now`, in Unix seconds; good for an hour, as Google demands.
    func grant(now: Int) throws(Failure) -> [UInt8] {
        do {
            let assertion = try JSONWebToken.sign(
                header: ["kid": .string(privateKeyID)],
                claims: [
                    "iss": .string(clientEmail), "scope": .string(Credential.scope), "aud": .string(tokenURL),
                    "iat": .int(now), "exp": .int(now + 3_600),
                ], with: key)
            return FormBody.make([
                ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion),
            ])
        } catch {
            throw Failure(
                .configuration, "signing with the key in \(path) failed", remedy: "download the key again")
        }
    }
}
