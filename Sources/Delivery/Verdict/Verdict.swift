/// What an attempt's outcome means for the message, its token and its application.
package enum VerdictClass: String, Sendable, CaseIterable {
    /// The provider took the message.
    case sent
    /// Try again after our own backoff.
    case retry
    /// Try again after the time the provider asked for or documents.
    case retryAfter = "retry_after"
    /// The token is dead, by proof.
    case tokenInvalid = "token_invalid"
    /// This message cannot be delivered; the token may be good.
    case permanent
    /// Our credentials or settings are wrong: stop and tell a person, the messages are not to blame.
    case authConfig = "auth_config"
    /// The message itself is wrong.
    case payload
    /// Nobody knows whether the provider took the message.
    case unknown
}

/// The meaning of one attempt's outcome.
package struct Verdict: Equatable, Sendable {
    package var kind: VerdictClass
    /// Seconds to wait; set exactly when `kind` is `retryAfter`.
    package var retryAfterSeconds: Int?
    /// What it is called: the provider's own word (`UNREGISTERED`), `HTTP_502`, or `CURL_56` for a transfer without one; `OK` when sent.
    package var code: String
    /// One sentence for a person: what it means and what to do.
    package var hint: String
    /// The provider's name for a sent message; for FCM what follows `/messages/`.
    package var providerMessageID: String?
    /// For a dead APNs token, since when it has been dead, in milliseconds since 1970: one registered later is alive.
    package var tokenInvalidSince: Int?
    /// Whether the provider provably never saw the message, so that the attempt need not be counted.
    package var isUnprocessed = false
    /// Whether new credentials, once, may be all that is needed: an access token or a provider token ran out.
    package var asksForNewCredentials = false
    /// What in the answer decided.
    package var evidence: Evidence

    /// Whether it is about the credentials of another service, kept in the provider's console: an APNs key that Firebase
    /// does not have says nothing about messages for Android devices of the same app.
    package var isOfOnePlatform: Bool {
        kind == .authConfig
            && (evidence == .apnsError || code == "THIRD_PARTY_AUTH_ERROR" || code == "APNS_AUTH_ERROR")
    }

    package init(
        _ kind: VerdictClass, code: String, hint: String? = nil, retryAfterSeconds: Int? = nil,
        evidence: Evidence = .httpStatus
    ) {
        self.kind = kind
        self.code = code
        self.hint = hint ?? Hint.text(for: code, kind: kind)
        self.retryAfterSeconds = retryAfterSeconds
        self.evidence = evidence
    }
}

/// A provider's answer to one request, as far as a verdict needs it.
package struct ProviderAnswer: Sendable {
    /// The HTTP status.
    package var status: Int
    /// The value of `Retry-After`, as it came.
    package var retryAfter: String?
    /// The value of `Date`: the clock that a date in `Retry-After` belongs to.
    package var date: String?
    /// The value of `apns-id`.
    package var apnsID: String?
    package var body: [UInt8]

    package init(
        status: Int, retryAfter: String? = nil, date: String? = nil, apnsID: String? = nil, body: [UInt8] = []
    ) {
        self.status = status
        self.retryAfter = retryAfter
        self.date = date
        self.apnsID = apnsID
        self.body = body
    }

    /// Seconds the provider asks to wait; nil when it does not ask, or not in a way that can be read.
    package func secondsToWait(now: Int) -> Int? {
        guard let retryAfter else { return nil }
        let clock = date.flatMap { HTTPDate.secondsSince1970($0, now: now) } ?? now
        return RetryAfter.seconds(retryAfter, now: clock)
    }
}
