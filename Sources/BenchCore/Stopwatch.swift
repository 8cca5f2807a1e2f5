import Glibc

/// Wall time and this process's processor time from its making on.
struct Stopwatch {
    private let began = Stopwatch.now
    private let cpu = ProcessFigures.ownCPU()

    /// Nanoseconds of the monotonic clock.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    var seconds: Double { Double(Stopwatch.now - began) / 1e9 }

    /// What so many messages have cost so far.
    func sample(messages: Int) -> Sample {
        let perMessage = Double(ProcessFigures.ownCPU() - cpu) / Double(max(1, messages))
        return Sample(messagesPerSecond: Double(messages) / max(seconds, 1e-9), cpuMicroseconds: perMessage)
    }
}

/// What one part of one round came to.
struct Sample {
    var messagesPerSecond: Double
    /// Processor time for each message: of the bare loop, or of the senders together.
    var cpuMicroseconds: Double
}
