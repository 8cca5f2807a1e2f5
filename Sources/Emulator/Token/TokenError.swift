import Delivery

/// An error of the token endpoint in the form of RFC 6749 §5.2, with the texts that Google gives.
struct TokenError: Error, Equatable {
    let error: String
    let description: String

    static let badRequest = TokenError(error: "invalid_request", description: "Bad Request")
    static let unknownAccount = grant("Invalid grant: account not found")
    static let badSignature = grant("Invalid JWT Signature.")
    static let wrongAudience = grant("Invalid JWT: Failed audience check.")
    static let noIssueTime = grant("Invalid JWT: iat (issued at) is not set.")
    static let noExpiry = grant("Invalid JWT: exp (expiration time) is not set.")
    static let badTimes = grant(
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
            + "Check your iat and exp values in the JWT claim.")
    static let noScope = TokenError(
        error: "invalid_scope", description: "Invalid OAuth scope or ID token audience provided.")

    static let revoked = grant("Token has been expired or revoked.")
    static let unknownClient = TokenError(error: "invalid_client", description: "The OAuth client was not found.")
    static let badSecret = TokenError(error: "invalid_client", description: "Unauthorized")

    /// RFC 6749 gives 401 to a client that it does not know.
    var status: Int { error == "invalid_client" ? 401 : 400 }

    static func plain(_ error: String, _ description: String) -> TokenError {
        TokenError(error: error, description: description)
    }

    static func missing(_ parameter: String) -> TokenError {
        TokenError(error: "invalid_request", description: "Required parameter is missing: \(parameter)")
    }

    static func unsupportedGrant(_ type: String) -> TokenError {
        TokenError(error: "unsupported_grant_type", description: "Invalid grant_type: \(type)")
    }

    /// Appends the body of the answer.
    func write(to output: inout [UInt8]) {
        JSONValue.members([("error", .string(error)), ("error_description", .string(description))])
            .writeIndented(to: &output)
    }

    private static func grant(_ description: String) -> TokenError {
        TokenError(error: "invalid_grant", description: description)
    }
}
