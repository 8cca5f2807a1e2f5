import Delivery
import FoundationEssentials
import Operations

/// A sender that has nothing to do: how soon it posts what is enqueued, and what its waiting costs.
struct IdleRun {
    /// Between two messages, so that each finds the sender idle.
    private static let gapMilliseconds = 50

    let senders: SenderRun

    func run() throws(Failure) -> IdleSample {
        let settings = senders.settings
        let sender = try senders.startSender(0, drains: false)
        defer { sender.stop() }
        // The first one waits for the start: connections, registration, access token.
        _ = try enqueue(1)
        try wait(for: 1, sender)
        let times = try enqueue(settings.idleMessages)
        try wait(for: settings.idleMessages + 1, sender)
        let latencies = try latencies(of: times)
        let before = ProcessFigures.cpu(Int(sender.pid))?.own ?? 0
        let began = Stopwatch()
        while began.seconds < Double(settings.idleSeconds) {
            try senders.interruption.pause(milliseconds: 100)
            try sender.checkRunning()
        }
        let spent = (ProcessFigures.cpu(Int(sender.pid))?.own ?? before) - before
        return IdleSample(milliseconds: latencies, cpuPercent: Double(spent) / 10_000 / began.seconds)
    }

    /// Enqueues so many, one at a time, and gives back when each was begun.
    private func enqueue(_ count: Int) throws(Failure) -> [Int: Date] {
        var times: [Int: Date] = [:]
        for _ in 0..<count {
            let now = Date.now
            times[try senders.queue.enqueueOne()] = now
            try senders.interruption.pause(milliseconds: Self.gapMilliseconds)
        }
        return times
    }

    /// Waits until the emulator has accepted so many in all.
    private func wait(for count: Int, _ sender: ChildProcess) throws(Failure) {
        for _ in 0..<300 {
            if accepted().count >= count { return }
            try sender.checkRunning()
            try senders.sink.checkRunning()
            try senders.interruption.pause(milliseconds: 100)
        }
        throw sender.failure("the sender posted \(accepted().count) of \(count) messages within 30 s")
    }

    private func accepted() -> [Substring] { TextFile.read(senders.sink.acceptedLog).split(separator: "\n") }

    /// From just before the INSERT to the arrival.
    private func latencies(of times: [Int: Date]) throws(Failure) -> [Double] {
        var latencies: [Double] = []
        for line in accepted() {
            guard let entry = try? JSONValue.parse(Array(line.utf8).span), let time = entry["time"]?.stringValue,
                let token = entry["message"]?["token"]?.stringValue, let number = Int(token.dropFirst(6).prefix(10)),
                let arrived = try? Date(time, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            else {
                throw Failure(
                    .software, "the emulator's log has a line that is not understood", remedy: "please report this")
            }
            guard let begun = times[number] else { continue }
            latencies.append(arrived.timeIntervalSince(begun) * 1_000)
        }
        return latencies
    }
}

/// What an idle sender came to.
struct IdleSample {
    /// Of each message, from the INSERT to its arrival at the emulator.
    let milliseconds: [Double]
    /// Of one core.
    let cpuPercent: Double
}
