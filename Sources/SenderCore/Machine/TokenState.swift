/// Where the access token stands; times are monotonic, since a wall clock may jump.
struct TokenState: Sendable {
    private(set) var generation = 0
    private(set) var expiresAt: Int64 = 0
    private var refreshAt: Int64 = 0
    private var isAskedFor = false
    private var failures = 0

    func isUsable(now: Int64) -> Bool { now < expiresAt }

    /// Whether to ask now; at most one request is under way.
    mutating func wantsRefresh(now: Int64) -> Bool {
        guard !isAskedFor, now >= refreshAt else { return false }
        isAskedFor = true
        return true
    }

    /// A new token: it is refreshed at 85 % of its life, while the old one still works.
    mutating func isReady(lifetime: Int64, now: Int64) {
        isAskedFor = false
        failures = 0
        generation += 1
        expiresAt = now + lifetime
        refreshAt = now + lifetime / 100 * 85
    }

    /// The next try comes after 1 s, 2 s, 4 s … 60 s.
    mutating func failed(now: Int64) {
        isAskedFor = false
        failures += 1
        refreshAt = now + Int64(min(60, 1 << min(failures - 1, 6))) * 1_000_000_000
    }

    /// The credentials are others: the old token goes on until there is a new one, which is asked for at once.
    ///
    /// What was asked with the old ones has no answer any more.
    mutating func replaced(now: Int64) {
        isAskedFor = false
        failures = 0
        refreshAt = now
    }

    /// The provider refused the token of this generation: ask for another, once.
    mutating func refused(generation: Int, now: Int64) {
        guard generation == self.generation, expiresAt > now else { return }
        expiresAt = now
        refreshAt = now
    }

    /// When something changes by itself.
    var deadline: Int64? { isAskedFor ? nil : refreshAt }
}
