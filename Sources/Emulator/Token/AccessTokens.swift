/// The access tokens that were given out, and until when each is good.
struct AccessTokens {
    enum State: Equatable { case valid, expired, unknown }

    /// Nanoseconds of the monotonic clock.
    private var deadlines: [[UInt8]: Int64] = [:]
    private var latest: (header: [UInt8], deadline: Int64)?
    private let scheme = [UInt8]("Bearer ".utf8)

    /// A fresh token, good for `lifetime` seconds from `now`.
    mutating func issue(lifetime: Int, now: Int64) -> String {
        // Tokens that ended an hour ago are of no more use than unknown ones.
        deadlines = deadlines.filter { $0.value > now - 3_600_000_000_000 }
        let token = "ya29.c.\(Randomness.hex(bytes: 64))"
        deadlines[[UInt8](token.utf8)] = now + Int64(lifetime) * 1_000_000_000
        return token
    }

    /// What an `authorization` header is worth; nil when it is missing or not a bearer token.
    mutating func state(ofHeader header: [UInt8], now: Int64) -> State? {
        // Nearly every request repeats the header of the one before.
        if let latest, latest.header == header { return latest.deadline > now ? .valid : .expired }
        guard header.count > scheme.count,
            zip(header, scheme).allSatisfy({ $0 | 0x20 == $1 | 0x20 })
        else { return nil }
        guard let deadline = deadlines[Array(header.dropFirst(scheme.count))] else { return .unknown }
        latest = (header, deadline)
        return deadline > now ? .valid : .expired
    }
}
