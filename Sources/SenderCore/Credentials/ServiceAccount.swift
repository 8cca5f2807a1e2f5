import Delivery
import Operations
import Signing

/// A Google service account's key file: who we are, and where to ask for an access token.
struct ServiceAccount {
    let clientEmail: String
    let privateKeyID: String
    let key: PrivateKey
    /// Where the JWT grant goes; `https://oauth2.googleapis.com/token` in Google's own files.
    let tokenURL: String

    /// Reads a key file's text; `path` is for the error messages.
    init(json: [UInt8], path: String) throws(Failure) {
        func malformed(_ why: String) -> Failure {
            Failure(
                .configuration, "\(path) is not a service account's key file: \(why)",
                remedy:
                    "download the JSON key of a service account from the Google Cloud console and name it with --credentials"
            )
        }
        let value: JSONValue
        do {
            value = try JSONValue.parse(json.span)
        } catch {
            throw malformed("it is not JSON (line \(error.line), column \(error.column))")
        }
        func member(_ name: String) throws(Failure) -> String {
            guard case .string(let text)? = value[name], !text.isEmpty else {
                throw malformed("\"\(name)\" is missing")
            }
            return text
        }
        let type = try member("type")
        guard type == "service_account" else {
            // Nothing of a file that is something else goes into an error, but a word such as "authorized_user".
            let isWord =
                type.utf8.count <= 40 && type.utf8.allSatisfy { $0 == UInt8(ascii: "_") || ($0 | 0x20) &- 0x61 < 26 }
            throw malformed(isWord ? "its type is \"\(type)\"" : "its type is no service_account")
        }
        clientEmail = try member("client_email")
        privateKeyID = try member("private_key_id")
        tokenURL = try member("token_uri")
        let pem = try member("private_key")
        do {
            key = try PrivateKey(pem: Array(pem.utf8))
        } catch {
            throw malformed("\"private_key\" cannot be read as a PEM key")
        }
        guard key.isRSA else { throw malformed("\"private_key\" is not an RSA key") }
    }

    /// The form body of a JWT grant (RFC 7523) signed at `now`, in Unix seconds; good for an hour, as Google demands.
    func grant(now: Int) throws(Failure) -> [UInt8] {
        do {
            let assertion = try JSONWebToken.sign(
                header: ["kid": .string(privateKeyID)],
                claims: [
                    "iss": .string(clientEmail), "scope": "https://www.googleapis.com/auth/firebase.messaging",
                    "aud": .string(tokenURL), "iat": .int(now), "exp": .int(now + 3_600),
                ], with: key)
            return Array("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)".utf8)
        } catch {
            throw Failure(
                .configuration, "signing with the service account's key failed", remedy: "download the key again")
        }
    }
}
