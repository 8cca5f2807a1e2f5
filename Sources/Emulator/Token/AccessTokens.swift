/// The access tokens that were given out, and what each is still good for.
struct AccessTokens {
    enum State: Equatable { case valid, expired, unknown }

    private struct Grant {
        /// Nanoseconds of the monotonic clock.
        let deadline: Int64
        /// Requests until it is revoked; nil is never.
        var uses: Int?
    }

    private var grants: [[UInt8]: Grant] = [:]
    /// The header of the last request, when its token is not counted.
    private var latest: (header: [UInt8], deadline: Int64)?
    private let scheme = [UInt8]("Bearer ".utf8)

    /// A fresh token, good for `lifetime` seconds from `now` and for so many requests.
    mutating func issue(lifetime: Int, uses: Int? = nil, now: Int64) -> String {
        // Tokens that ended an hour ago are of no more use than unknown ones.
        grants = grants.filter { $0.value.deadline > now - 3_600_000_000_000 }
        let token = "ya29.c.\(Randomness.hex(bytes: 64))"
        grants[[UInt8](token.utf8)] = Grant(deadline: now + Int64(lifetime) * 1_000_000_000, uses: uses)
        return token
    }

    /// What an `authorization` header is worth, of which it takes one use; nil when it is missing or not a bearer token.
    ///
    /// A token that was revoked is unknown.
    mutating func state(ofHeader header: [UInt8], now: Int64) -> State? {
        // Nearly every request repeats the header of the one before.
        if let latest, latest.header == header { return latest.deadline > now ? .valid : .expired }
        guard header.count > scheme.count,
            zip(header, scheme).allSatisfy({ $0 | 0x20 == $1 | 0x20 })
        else { return nil }
        let token = Array(header.dropFirst(scheme.count))
        guard let grant = grants[token] else { return .unknown }
        if let uses = grant.uses {
            guard uses > 0 else { return .unknown }
            grants[token]?.uses = uses - 1
        } else {
            latest = (header, grant.deadline)
        }
        return grant.deadline > now ? .valid : .expired
    }
}
