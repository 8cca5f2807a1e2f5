/// When to try a connection again: after 0.1 s, 0.2 s … 5 s; a server that restarts is back within seconds.
struct Backoff {
    private(set) var retryAt: Int64 = 0
    private var failures = 0

    mutating func failed(now: Int64) {
        failures += 1
        retryAt = now + min(5_000, 100 << min(failures - 1, 6)) * 1_000_000
    }

    mutating func wait(until time: Int64) { retryAt = time }

    mutating func succeeded() { failures = 0 }
}
