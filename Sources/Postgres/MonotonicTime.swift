import Glibc

/// The clock for waiting: never set back.
enum MonotonicTime {
    /// Nanoseconds since some fixed moment.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
