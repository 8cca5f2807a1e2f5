import FoundationEssentials
import Signing

/// A service account's signed assertion, as it came in.
struct Assertion {
    struct Header: Decodable {
        let alg: String?
        let kid: String?
    }

    struct Claims: Decodable {
        let iss: String?
        let aud: String?
        let scope: String?
        let iat: Double?
        let exp: Double?
    }

    let header: Header
    let claims: Claims
    private let parts: JSONWebToken.Parts

    /// Nil when it is not a token with JSON in it.
    init?(_ token: [UInt8]) {
        let decoder = JSONDecoder()
        guard let parts = JSONWebToken.parse(token),
            let header = try? decoder.decode(Header.self, from: Data(parts.header)),
            let claims = try? decoder.decode(Claims.self, from: Data(parts.claims))
        else { return nil }
        self.parts = parts
        self.header = header
        self.claims = claims
    }

    /// Whether the account's key signed it; a key id, when there is one, has to be the account's.
    func isSigned(by account: ServiceAccount) -> Bool {
        header.alg == "RS256" && header.kid.map { $0 == account.keyID } ?? true
            && account.key.verifyRS256(parts.signed, signature: parts.signature)
    }
}
