#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How long an answer takes; nanoseconds.
enum Latency: Equatable, Sendable {
    case fixed(Int64)
    case uniform(Int64, Int64)
    /// Log-normal: half of the answers take less than the median, one in a hundred longer than the 99th percentile.
    case longTail(median: Int64, p99: Int64)

    /// One draw.
    func nanoseconds(_ chance: inout Chance) -> Int64 {
        switch self {
        case .fixed(let value): return value
        case .uniform(let low, let high):
            return low + Int64(chance.next() * Double(high - low))
        case .longTail(let median, let p99):
            // Box and Muller; the first draw is kept away from 0, whose logarithm is infinite.
            let normal = sqrt(-2 * log(max(chance.next(), 1e-12))) * cos(2 * .pi * chance.next())
            let sigma = log(Double(p99) / Double(median)) / 2.326_347_874
            // An hour is longer than any client waits.
            return Int64(min(Double(median) * exp(sigma * normal), 3.6e12))
        }
    }
}
