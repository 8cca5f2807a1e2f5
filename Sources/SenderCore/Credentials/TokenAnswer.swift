import Delivery
import Operations

/// What came back for a ``TokenRequest``.
struct TokenReply {
    var status: Int
    var body: [UInt8]
    var retryAfter: String?
    var date: String?
}

/// What a reply means: an access token, or a failure with what to do about it.
enum TokenAnswer {
    /// The token and its life in seconds.
    case token(String, lifetimeSeconds: Int)
    /// `wait` is what `Retry-After` asked for, in seconds.
    case failure(Failure, wait: Int?)

    /// The longest life that is believed, in seconds: a day, where Google's longest is twelve hours.
    static let longestLife = 86_400
    /// The longest `Retry-After` that is followed, in seconds.
    static let longestWait = 3_600

    /// Judges status and body; `now` in Unix seconds.
    ///
    /// Only what Google documents as passing counts as unavailable, and every 5xx; the rest is configuration.
    /// Errors are those of RFC 6749 §5.2, with the texts in the answer shortened to one line.
    static func judge(_ reply: TokenReply, of credential: Credential, now: Int) -> TokenAnswer {
        let value = try? JSONValue.parse(reply.body.span)
        if reply.status == 200 { return token(value, of: credential) }
        let refusal = Refusal(reply, value)
        let isPassing =
            [408, 429].contains(reply.status) || reply.status >= 500
            || ["internal_failure", "server_error", "temporarily_unavailable"].contains(refusal.code)
        let skew = ClockSkew.seconds(date: reply.date, now: now)
        var what = "\(credential.endpointName) refused \(credential.name): \(refusal.text)"
        if let skew { what += "; \(ClockSkew.words(skew))" }
        let answer = ProviderAnswer(status: reply.status, retryAfter: reply.retryAfter, date: reply.date)
        let wait = answer.secondsToWait(now: now).map { min($0, longestWait) }
        let remedy: String =
            if isPassing {
                "it is asked again by itself; if it goes on, look at the provider's status page"
            } else {
                credential.remedy(for: refusal)
            }
        return .failure(Failure(isPassing ? .unavailable : .configuration, what, remedy: remedy), wait: wait)
    }

    private static func token(_ value: JSONValue?, of credential: Credential) -> TokenAnswer {
        func failure(_ what: String, _ remedy: String) -> TokenAnswer {
            .failure(Failure(.configuration, "\(credential.endpointName) \(what)", remedy: remedy), wait: nil)
        }
        guard let value else {
            return failure("answered with something else than JSON", credential.endpointRemedy)
        }
        guard case .string(let token)? = value["access_token"], !token.isEmpty else {
            return failure(
                "gave \(credential.name) no access token", "check that it may use the scope firebase.messaging")
        }
        // It becomes part of a header line.
        guard token.utf8.count <= 16_384, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return failure("gave an access token that cannot be one", credential.endpointRemedy)
        }
        if case .string(let type)? = value["token_type"], type.lowercased() != "bearer" {
            return failure("gave a token that is no bearer token", credential.endpointRemedy)
        }
        let seconds: Double? =
            switch value["expires_in"] {
            case .number(let text)?, .string(let text)?: Double(text)
            default: nil
            }
        // Not a number is neither greater nor less than anything.
        guard let seconds, seconds == seconds else { return .token(token, lifetimeSeconds: 3_600) }
        return .token(token, lifetimeSeconds: Int(min(max(1, seconds), Double(longestLife))))
    }
}

/// What a token endpoint said against it.
struct Refusal {
    /// RFC 6749's code, or `HTTP 404`.
    let code: String
    let description: String
    let status: Int

    init(_ reply: TokenReply, _ value: JSONValue?) {
        status = reply.status
        if case .string(let text)? = value?["error"] { code = Self.shown(text, 64) } else { code = "HTTP \(status)" }
        if case .string(let text)? = value?["error_description"] {
            description = Self.shown(text, 200)
        } else {
            description = ""
        }
    }

    var text: String { description.isEmpty ? code : "\(code): \(description)" }

    /// A stranger's text for an error: one line, at most so many characters of Unicode.
    private static func shown(_ text: String, _ limit: Int) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            shown.append(scalar.value < 0x20 || scalar.value == 0x7F ? "?" : scalar)
        }
        return String(shown)
    }
}
