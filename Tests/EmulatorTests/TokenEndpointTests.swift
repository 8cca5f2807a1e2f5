import Foundation
import Signing
import Testing

@testable import Emulator

/// The token endpoint's verdicts, each claim wrong in turn.
@Suite struct TokenEndpointTests {
    static let now = 1_800_000_000

    let account: ServiceAccount
    let user: AuthorizedUser
    let endpoint: TokenEndpoint

    init() throws {
        account = try ServiceAccount(project: "demo-project")
        user = AuthorizedUser(project: "demo-project")
        endpoint = TokenEndpoint(account: account, user: user, audience: "https://127.0.0.1:1/token", lifetime: 120)
    }

    /// One way to ask for a token.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var issuer: String?
        var audience = "https://127.0.0.1:1/token"
        var issued: Int? = TokenEndpointTests.now
        var expiry: Int? = TokenEndpointTests.now + 3600
        var scope = "https://www.googleapis.com/auth/firebase.messaging"
        var keyID: String?
        var usesOtherKey = false
        var error: String?
        var description: String?
        var testDescription: String { name }
    }

    static let timeframe =
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
        + "Check your iat and exp values in the JWT claim."

    static let cases = [
        Case(name: "as it should be"),
        Case(name: "Google's own audience", audience: "https://oauth2.googleapis.com/token"),
        Case(name: "cloud-platform", scope: "openid https://www.googleapis.com/auth/cloud-platform"),
        Case(name: "a clock 50 s ahead", issued: now + 50, expiry: now + 3650),
        Case(
            name: "other key", usesOtherKey: true, error: "invalid_grant", description: "Invalid JWT Signature."),
        Case(name: "other key id", keyID: "abc", error: "invalid_grant", description: "Invalid JWT Signature."),
        Case(
            name: "other account", issuer: "x@example.com", error: "invalid_grant",
            description: "Invalid grant: account not found"),
        Case(
            name: "other audience", audience: "https://example.com/", error: "invalid_grant",
            description: "Invalid JWT: Failed audience check."),
        Case(
            name: "no iat", issued: nil, error: "invalid_grant",
            description: "Invalid JWT: iat (issued at) is not set."),
        Case(
            name: "no exp", expiry: nil, error: "invalid_grant",
            description: "Invalid JWT: exp (expiration time) is not set."),
        Case(
            name: "expired", issued: now - 7200, expiry: now - 3600, error: "invalid_grant", description: timeframe),
        Case(name: "too long", expiry: now + 3601, error: "invalid_grant", description: timeframe),
        Case(
            name: "from the future", issued: now + 600, expiry: now + 4200, error: "invalid_grant",
            description: timeframe),
        Case(name: "exp before iat", expiry: now - 1, error: "invalid_grant", description: timeframe),
        Case(
            name: "no scope", scope: "", error: "invalid_scope",
            description: "Invalid OAuth scope or ID token audience provided."),
    ]

    @Test(arguments: cases) func anAssertionIsJudged(_ test: Case) throws {
        var claims: [(String, JSONWebToken.Value)] = [
            ("iss", .string(test.issuer ?? account.email)), ("aud", .string(test.audience)),
            ("scope", .string(test.scope)),
        ]
        if let issued = test.issued { claims.append(("iat", .int(issued))) }
        if let expiry = test.expiry { claims.append(("exp", .int(expiry))) }
        let key = test.usesOtherKey ? try PrivateKey.generateRSA() : account.key
        let token = try Self.sign(keyID: test.keyID ?? account.keyID, claims, with: key)
        let (status, answer) = try ask(
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(token)")
        if let error = test.error {
            #expect(status == 400)
            #expect(answer["error"] as? String == error)
            #expect(answer["error_description"] as? String == test.description)
        } else {
            #expect(status == 200)
            #expect((answer["access_token"] as? String)?.hasPrefix("ya29.") == true)
            #expect(answer["expires_in"] as? Int == 120)
            #expect(answer["token_type"] as? String == "Bearer")
        }
    }

    @Test func anUnknownScopeGetsNoAccessToken() throws {
        let token = try Self.sign(
            keyID: account.keyID,
            [
                ("iss", .string(account.email)), ("aud", .string(endpoint.audience)), ("scope", "email"),
                ("iat", .int(Self.now)), ("exp", .int(Self.now + 60)),
            ], with: account.key)
        let (status, answer) = try ask(
            "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=\(token)")
        #expect(status == 200)
        #expect(answer["id_token"] != nil && answer["access_token"] == nil)
    }

    @Test(arguments: [
        ("", "invalid_request", "Required parameter is missing: grant_type"),
        ("grant_type=password", "unsupported_grant_type", "Invalid grant_type: password"),
        (
            "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", "invalid_request",
            "Required parameter is missing: assertion"
        ),
        ("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=a.b.c", "invalid_request", "Bad Request"),
    ])
    func aBadFormIsRefused(body: String, error: String, description: String) throws {
        let (status, answer) = try ask(body)
        #expect(status == 400)
        #expect(answer["error"] as? String == error)
        #expect(answer["error_description"] as? String == description)
    }

    @Test func aRefreshTokenIsChangedForAnAccessToken() throws {
        let file = try #require(
            JSONSerialization.jsonObject(with: Data(user.json(endpoint: "https://127.0.0.1:1"))) as? [String: String])
        #expect(file["type"] == "authorized_user" && file["token_uri"] == endpoint.audience)
        let fields = ["client_id", "client_secret", "refresh_token"].map { "\($0)=\(file[$0] ?? "")" }
        let (status, answer) = try ask("grant_type=refresh_token&\(fields.joined(separator: "&"))")
        #expect(status == 200)
        #expect((answer["access_token"] as? String)?.hasPrefix("ya29.") == true)
        #expect(answer["expires_in"] as? Int == 120)
    }

    @Test(arguments: [
        ("client_id", nil, 400, "invalid_request"), ("client_id", "x", 401, "invalid_client"),
        ("client_secret", nil, 401, "invalid_client"), ("client_secret", "x", 401, "invalid_client"),
        ("refresh_token", nil, 400, "invalid_request"), ("refresh_token", "x", 400, "invalid_grant"),
    ])
    func aBadRefreshIsRefused(name: String, value: String?, status: Int, error: String) throws {
        var fields = [
            "client_id": user.clientID, "client_secret": user.clientSecret, "refresh_token": user.refreshToken,
        ]
        fields[name] = value
        let form = fields.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        let (got, answer) = try ask("grant_type=refresh_token&\(form)")
        #expect(got == status)
        #expect(answer["error"] as? String == error)
    }

    private func ask(_ body: String) throws -> (Int, [String: Any]) {
        var tokens = AccessTokens()
        var output: [UInt8] = []
        let time = WallTime(seconds: Int64(Self.now), microseconds: 0)
        let head = endpoint.answer([UInt8](body.utf8), tokens: &tokens, time: time, now: 0, into: &output)
        return (head.status, try #require(JSONSerialization.jsonObject(with: Data(output)) as? [String: Any]))
    }

    /// Signs claims that are only known at run time, which a dictionary literal cannot hold.
    private static func sign(
        keyID: String, _ claims: [(String, JSONWebToken.Value)], with key: PrivateKey
    ) throws -> String {
        let object = try JSONSerialization.data(
            withJSONObject: Dictionary(
                uniqueKeysWithValues: claims.map { name, value -> (String, Any) in
                    switch value {
                    case .string(let text): (name, text)
                    case .int(let number): (name, number)
                    }
                }))
        let header = Base64URL.encode([UInt8](#"{"alg":"RS256","typ":"JWT","kid":"\#(keyID)"}"#.utf8))
        let signed = "\(header).\(Base64URL.encode([UInt8](object)))"
        return try "\(signed).\(Base64URL.encode(key.signRS256([UInt8](signed.utf8))))"
    }
}
