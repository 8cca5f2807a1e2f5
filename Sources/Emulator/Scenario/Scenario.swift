/// Everything that the emulator does besides what FCM does on a good day.
struct Scenario: Sendable {
    /// What all draws come from: the same seed and the same requests give the same effects.
    var seed: UInt64 = 0
    var quota: QuotaSettings?
    /// The first pattern that fits decides.
    var targets: [TargetRule] = []
    /// In order; see `RuleEngine`.
    var rules: [Rule] = []
    /// The most effects of all rules together; nil is no limit.
    var limit: Int?
    var server = ServerConditions()
    var token = TokenConditions()

    /// Whether a rule asks for headers of a request.
    var needsHeaders: Bool { rules.contains { $0.match.header != nil } }
}

/// A match and what happens to the requests that it fits.
struct Rule: Sendable {
    /// What counts are kept under; `rules[3]` when the file gives none.
    var name: String
    var match = Match()
    /// The most requests it hits; nil is no limit.
    var limit: Int?
    var effect: Effect
}

/// Which requests a rule hits: all conditions that are set have to hold.
struct Match: Equatable, Sendable {
    enum Endpoint: String, CaseIterable, Sendable { case send, token, any }

    var endpoint = Endpoint.send
    /// Only messages that would be accepted, before or after any fault.
    var isValidOnly = false
    var target: Pattern?
    var project: Pattern?
    var header: (name: String, value: Pattern)?
    /// Seconds since the start or the last reset: from the first, to before the second.
    var between: ClosedRange<Double>?
    /// The one request with this number among those that fulfil the conditions above.
    var nth: Int?
    /// Every so manyth of them.
    var every: Int?
    /// From 0 to 1; drawn from the seed, the rule's place, and the target with the number of its arrival.
    var probability: Double?

    static func == (left: Match, right: Match) -> Bool {
        (left.endpoint, left.isValidOnly, left.target, left.project) == (
            right.endpoint, right.isValidOnly, right.target, right.project
        ) && left.header?.name == right.header?.name && left.header?.value == right.header?.value
            && (left.between, left.nth, left.every) == (right.between, right.nth, right.every)
            && left.probability == right.probability
    }
}

/// What the server as a whole does, whatever is asked of it.
struct ServerConditions: Equatable, Sendable {
    enum Certificate: String, CaseIterable, Sendable {
        case good
        /// From an authority that is not in `ca.pem`.
        case other
        case expired
        case wrongHost = "wrong_host"
    }

    enum Versions: String, CaseIterable, Sendable { case http1 = "1.1", http2 = "2", both }

    enum Refusal: String, CaseIterable, Sendable {
        /// Nothing listens: the kernel answers with RST.
        case refuse
        /// TCP connections are accepted, and nobody answers their TLS.
        case noTLS = "no_tls"
    }

    struct CloseIdle: Equatable, Sendable {
        /// Nanoseconds without anything from the client.
        var after: Int64
        var by: Reset
    }

    struct RefuseTCP: Equatable, Sendable {
        /// Seconds since the start or the last reset; nil is always.
        var between: ClosedRange<Double>?
        var by = Refusal.refuse
    }

    var closeIdle: CloseIdle?
    var refuseTCP: RefuseTCP?
    var certificate = Certificate.good
    var versions = Versions.both
    /// Seconds by which `date` is off.
    var dateSkew = 0
}

/// What becomes of access tokens; nil leaves it to the command line or to nothing.
struct TokenConditions: Equatable, Sendable {
    /// Seconds a token is good for.
    var lifetime: Int?
    /// Seconds that the answer says it is good for, when that is not the truth.
    var expiresIn: Int?
    /// Requests after which a token is revoked.
    var uses: Int?
}
