import Delivery
import Operations

/// What the token endpoint said: an access token, or an error in the form of RFC 6749.
enum TokenAnswer {
    /// The token and its life in seconds.
    case token(String, lifetimeSeconds: Int)
    case failure(Failure)

    /// The longest life that is believed, in seconds: a day, where Google's longest is twelve hours.
    static let longestLife = 86_400

    /// Judges status and body.
    ///
    /// Only what Google documents as passing counts as unavailable; the rest is configuration.
    static func judge(status: Int, body: [UInt8]) -> TokenAnswer {
        let value = try? JSONValue.parse(body.span)
        if status == 200 {
            guard case .string(let token)? = value?["access_token"], !token.isEmpty else {
                return .failure(
                    Failure(
                        .configuration, "the token endpoint gave no access token",
                        remedy: "check that the service account may use the scope firebase.messaging"))
            }
            let lifetime: Int? =
                switch value?["expires_in"] {
                case .number(let text)?, .string(let text)?: Int(text)
                default: nil
                }
            return .token(token, lifetimeSeconds: min(max(1, lifetime ?? 3_600), longestLife))
        }
        var code = "HTTP \(status)"
        var description = ""
        if case .string(let text)? = value?["error"] { code = shown(text, 64) }
        if case .string(let text)? = value?["error_description"] { description = ": " + shown(text, 200) }
        let isPassing =
            [408, 429, 500, 503, 504].contains(status)
            || ["internal_failure", "server_error", "temporarily_unavailable"].contains(code)
        return .failure(
            Failure(
                isPassing ? .unavailable : .configuration,
                "the token endpoint refused the service account: \(code)\(description)",
                remedy: isPassing ? "try again later" : remedy(for: code, description)))
    }

    /// A stranger's text for an error: one line, at most so many characters of Unicode.
    private static func shown(_ text: String, _ limit: Int) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            shown.append(scalar.value < 0x20 || scalar.value == 0x7F ? "?" : scalar)
        }
        return String(shown)
    }

    private static func remedy(for code: String, _ description: String) -> String {
        if description.contains("iat and exp") { return "set this machine's clock right (NTP)" }
        if code == "invalid_grant" { return "download a new key of the service account and name it with --credentials" }
        return "check the service account in the Google Cloud console"
    }
}
