import Delivery

/// The answers that a scenario may ask for by name, ready-made in the server's shape and words.
enum NamedError {
    /// FCM's own errors, by FcmError's code where it has one.
    private static let sending: [(name: String, refusal: SendRefusal)] = [
        ("UNREGISTERED", .unregistered),
        ("SENDER_ID_MISMATCH", .senderIDMismatch),
        ("QUOTA_EXCEEDED", .quotaExceeded(retryAfter: nil)),
        ("UNAVAILABLE", .unavailable),
        ("INTERNAL", .internalError),
        ("THIRD_PARTY_AUTH_ERROR", .thirdPartyAuth),
        ("INVALID_ARGUMENT", .invalidArgument),
        ("RATE_LIMIT_EXCEEDED", .rateLimitExceeded(retryAfter: nil)),
        ("INVALID_TOKEN", .invalidToken),
        ("APNS_UNREGISTERED", .apnsUnregistered),
        ("APNS_DISABLED", .apnsDisabled),
        ("APNS_BAD_DEVICE_TOKEN", .apnsBadDeviceToken),
        ("IAM_PERMISSION_DENIED", .iamDenied),
        ("SERVICE_DISABLED", .serviceDisabled),
        ("CREDENTIALS_MISSING", .missingCredentials),
        ("ACCESS_TOKEN_EXPIRED", .expiredToken),
        ("UNAUTHENTICATED", .unknownToken),
    ]

    /// The front end's pages, which are no JSON.
    private static let pages: [(name: String, status: Int)] = [("BAD_GATEWAY", 502), ("GATEWAY_TIMEOUT", 504)]

    /// The token endpoint's errors: RFC 6749's codes, with Google's texts told apart behind a dot.
    private static let token: [(name: String, status: Int, error: TokenError)] = [
        ("invalid_grant", 400, .badSignature),
        ("invalid_grant.signature", 400, .badSignature),
        ("invalid_grant.times", 400, .badTimes),
        ("invalid_grant.account", 400, .unknownAccount),
        ("invalid_grant.audience", 400, .wrongAudience),
        ("invalid_grant.iat", 400, .noIssueTime),
        ("invalid_grant.exp", 400, .noExpiry),
        ("invalid_grant.revoked", 400, .revoked),
        ("invalid_scope", 400, .noScope),
        ("invalid_request", 400, .badRequest),
        ("invalid_client", 401, .plain("invalid_client", "The OAuth client was not found.")),
        ("unauthorized_client", 401, .plain("unauthorized_client", "Unauthorized")),
        ("disabled_client", 401, .plain("disabled_client", "The OAuth client was disabled.")),
        ("deleted_client", 401, .plain("deleted_client", "The OAuth client was deleted.")),
        ("internal_failure", 500, .plain("internal_failure", "Internal failure.")),
        ("server_error", 500, .plain("server_error", "Internal server error.")),
        ("temporarily_unavailable", 503, .plain("temporarily_unavailable", "The service is temporarily unavailable.")),
    ]

    /// An answer of 200 without an access token, which Google gives for a scope it does not know.
    private static let idTokenOnly = "id_token_only"

    static var names: [String] {
        sending.map(\.name) + pages.map(\.name) + token.map(\.name) + [idTokenOnly]
    }

    /// Whether only the token endpoint answers so.
    static func isOfTokenEndpoint(_ name: String) -> Bool { name == idTokenOnly || token.contains { $0.name == name } }

    /// The answer of that name; nil when there is none.
    static func answer(_ name: String, retryAfter: Int?) -> MadeUpAnswer? {
        var body: [UInt8] = []
        var head: AnswerHead
        if let refusal = sending.first(where: { $0.name == name })?.refusal {
            refusal.error.write(to: &body)
            head = refusal.head
        } else if let page = pages.first(where: { $0.name == name }) {
            head = FrontEndPage.writeServerError(status: page.status, to: &body)
        } else if let known = token.first(where: { $0.name == name }) {
            known.error.write(to: &body)
            head = AnswerHead(status: known.status)
        } else if name == idTokenOnly {
            JSONValue.members([("id_token", .string("e30.e30.c2lnbmF0dXJl"))]).writeIndented(to: &body)
            head = .ok
        } else {
            return nil
        }
        head.retryAfter = retryAfter
        return MadeUpAnswer(name: name, head: head, body: body)
    }
}
