import Delivery

/// `POST /token`: changes a service account's assertion, or a user's refresh token, for an access token.
struct TokenEndpoint {
    private static let assertionGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    private static let refreshGrant = "refresh_token"
    private static let googlesAudience = "https://oauth2.googleapis.com/token"
    private static let sendScopes: Set<String> = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]
    /// Seconds by which a client's clock may be off; Google does not publish its own figure.
    private static let clockTolerance = 60.0

    let account: ServiceAccount
    let user: AuthorizedUser
    let audience: String
    /// Seconds an access token is good for.
    let lifetime: Int

    /// Appends the answer's body; gives back its head.
    ///
    /// - Parameters:
    ///   - time: the wall clock, for the assertion's times.
    ///   - now: the monotonic clock in nanoseconds, for the new token's end.
    func answer(
        _ body: [UInt8], conditions: TokenConditions = TokenConditions(), tokens: inout AccessTokens, time: WallTime,
        now: Int64, into output: inout [UInt8]
    ) -> AnswerHead {
        do throws(TokenError) {
            let scopes = try grantedScopes(body, time: time)
            var members: [(String, JSONValue)] = []
            if scopes.isDisjoint(with: Self.sendScopes) {
                // Google answers a scope it does not know with an identity token and without an access token.
                members.append(("id_token", .string("e30.e30.\(Randomness.hex(bytes: 16))")))
            } else {
                members = issue(conditions, &tokens, now: now)
            }
            JSONValue.members(members).writeIndented(to: &output)
            return .ok
        } catch {
            error.write(to: &output)
            return AnswerHead(status: error.status)
        }
    }

    /// What the metadata server answers: a token for whoever runs on the machine, and nothing to prove.
    func answerMachine(
        _ conditions: TokenConditions, tokens: inout AccessTokens, now: Int64, into output: inout [UInt8]
    ) {
        JSONValue.members(issue(conditions, &tokens, now: now)).writeIndented(to: &output)
    }

    private func issue(
        _ conditions: TokenConditions, _ tokens: inout AccessTokens, now: Int64
    ) -> [(String, JSONValue)] {
        let lifetime = conditions.lifetime ?? lifetime
        return [
            ("access_token", .string(tokens.issue(lifetime: lifetime, uses: conditions.uses, now: now))),
            ("expires_in", .int(conditions.expiresIn ?? lifetime)),
            ("token_type", .string("Bearer")),
        ]
    }

    private func grantedScopes(_ body: [UInt8], time: WallTime) throws(TokenError) -> Set<String> {
        let fields = FormBody.fields(body)
        guard let grantType = fields["grant_type"] else { throw .missing("grant_type") }
        if grantType.elementsEqual(Self.refreshGrant.utf8) { return try consentedScopes(fields) }
        guard grantType.elementsEqual(Self.assertionGrant.utf8) else {
            throw .unsupportedGrant(String(decoding: grantType, as: UTF8.self))
        }
        guard let token = fields["assertion"], !token.isEmpty else { throw .missing("assertion") }
        guard let assertion = Assertion(token) else { throw .badRequest }
        guard assertion.claims.iss == account.email else { throw .unknownAccount }
        guard assertion.isSigned(by: account) else { throw .badSignature }
        guard assertion.claims.aud == audience || assertion.claims.aud == Self.googlesAudience
        else { throw .wrongAudience }
        guard let issued = assertion.claims.iat else { throw .noIssueTime }
        guard let expiry = assertion.claims.exp else { throw .noExpiry }
        let now = Double(time.seconds)
        guard issued <= now + Self.clockTolerance, expiry > now - Self.clockTolerance, expiry > issued,
            expiry <= issued + 3600
        else { throw .badTimes }
        let scopes = Set((assertion.claims.scope ?? "").split(separator: " ").map(String.init))
        guard !scopes.isEmpty else { throw .noScope }
        return scopes
    }

    /// The user's client and refresh token have to be the ones of the file; the scopes are those the user agreed to.
    private func consentedScopes(_ fields: [String: [UInt8]]) throws(TokenError) -> Set<String> {
        guard let client = fields["client_id"], !client.isEmpty else {
            throw .plain("invalid_request", "Could not determine client ID from request.")
        }
        guard client.elementsEqual(user.clientID.utf8) else { throw .unknownClient }
        guard let secret = fields["client_secret"], secret.elementsEqual(user.clientSecret.utf8) else {
            throw .badSecret
        }
        guard let token = fields["refresh_token"], !token.isEmpty else { throw .missing("refresh_token") }
        guard token.elementsEqual(user.refreshToken.utf8) else { throw .revoked }
        return Self.sendScopes
    }
}
