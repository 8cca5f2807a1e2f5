import Operations

/// All parts in turn, round after round, so that whatever else the machine does meets them alike.
struct Rounds {
    let settings: BenchSettings
    let queue: ScratchQueue
    let directory: ScratchDirectory
    let interruption: Interruption
    let isQuiet: Bool

    func run() throws(Failure) -> Results {
        var results = Results()
        let parts = settings.parts
        if parts.contains(where: { $0 != .idle }) {
            let sink = try Sink(
                settings.sink, settings: settings, directory: directory, name: "sink", logsAccepted: false,
                interruption: interruption)
            defer { sink.stop() }
            let bare =
                parts.contains(.bare)
                ? try BareLoop(sink, connections: settings.connections, streams: settings.streams) : nil
            // Connections are made and both sides warm up; nothing of it counts.
            _ = try bare?.post(min(settings.backlog, 5_000), interruption)
            var pending = 0
            for round in 1...settings.rounds {
                try self.round(round, bare, sink, &pending, &results)
            }
        }
        if parts.contains(.idle) { results.idle = try idle() }
        return results
    }

    private func round(
        _ number: Int, _ bare: BareLoop?, _ sink: Sink, _ pending: inout Int, _ results: inout Results
    ) throws(Failure) {
        if let bare {
            results.bare.append(try bare.post(min(settings.backlog, 200_000), interruption))
            say("round \(number): bare \(rate(results.bare.last?.messagesPerSecond))")
        }
        if settings.parts.contains(.sender) {
            try queue.fill(to: settings.backlog, pending: pending, interruption)
            let run = SenderRun(
                settings: settings, queue: queue, sink: sink, directory: directory, interruption: interruption)
            let sample = try run.run()
            pending = sample.pending
            results.sender.append(sample)
            say("round \(number): sender \(rate(sample.cost.messagesPerSecond))")
        }
        if settings.parts.contains(.queue) {
            try queue.fill(to: settings.backlog, pending: pending, interruption)
            let sample = try QueueRun(queue: queue, interruption: interruption).run(limit: settings.claims)
            pending = max(0, settings.backlog - sample.messages)
            results.queue.append(sample)
            say("round \(number): claim + record \(rate(sample.messagesPerSecond))")
        }
    }

    /// With an emulator of its own, which writes down when each message came.
    private func idle() throws(Failure) -> IdleSample {
        try queue.run("emptying the queue", "TRUNCATE todoke.messages, todoke.payloads, todoke.attempts")
        let sink = try Sink(
            .emulator, settings: settings, directory: directory, name: "idle", logsAccepted: true,
            interruption: interruption)
        defer { sink.stop() }
        let run = SenderRun(
            settings: settings, queue: queue, sink: sink, directory: directory, interruption: interruption)
        return try IdleRun(senders: run).run()
    }

    private func rate(_ value: Double?) -> String { "\(Int((value ?? 0).rounded())) messages/s" }

    /// Progress, for people only.
    private func say(_ line: String) { if !isQuiet { StandardStream.error.writeLine(line) } }
}
