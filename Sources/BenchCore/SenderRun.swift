import Operations
import Postgres

/// The senders end to end: from a loaded queue to recorded results.
struct SenderRun {
    let settings: BenchSettings
    let queue: ScratchQueue
    let sink: Sink
    let directory: ScratchDirectory
    let interruption: Interruption

    /// Starts the senders, waits until they have drained the queue or their time is over, and says what it came to.
    func run() throws(Failure) -> SenderSample {
        let before = try ServerFigures(queue)
        let start = try queue.query("reading the clock", "SELECT clock_timestamp()::text").string(0, 0)
        let began = Stopwatch()
        var senders: [ChildProcess] = []
        for number in 1...settings.senders { senders.append(try startSender(number, drains: settings.seconds == 0)) }
        defer { for sender in senders { sender.stop() } }
        let memory = try watch(senders, began)
        let cpu = try senders.map(Self.end).reduce(0, +)
        try waitForBackends()
        let after = try ServerFigures(queue)
        return try sample(start: start, cpu: cpu, memory: memory, before: before, after: after)
    }

    func startSender(_ number: Int, drains: Bool) throws(Failure) -> ChildProcess {
        var arguments = [
            "--app", ScratchQueue.app, "--credentials", sink.credentials, "--endpoint", sink.endpoint,
            "--ca-file", sink.caFile, "--connections", String(settings.connections),
            "--streams", String(settings.streams), "--ramp", "0",
        ]
        if drains { arguments.append("--drain") }
        return try ChildProcess(
            "\(settings.binaryDirectory)/todoke-sender", arguments + settings.senderOptions,
            log: "\(directory.path)/sender-\(number).log", remedy: "build it, or name its directory with --bin",
            adding: ["TODOKE_DATABASE_URL": queue.connectionText])
    }

    /// What the senders need of memory while they run, in KiB: the largest peak, and what the largest grew after a third.
    private func watch(_ senders: [ChildProcess], _ began: Stopwatch) throws(Failure) -> (peak: Int, growth: Int) {
        var series: [[Int]] = senders.map { _ in [] }
        var peak = 0
        var isStopping = false
        while senders.contains(where: { $0.poll() == nil }) {
            try interruption.pause(milliseconds: 100)
            try sink.checkRunning()
            for (index, sender) in senders.enumerated() {
                guard let memory = ProcessFigures.memory(Int(sender.pid)) else { continue }
                series[index].append(memory.resident)
                peak = max(peak, memory.peak)
            }
            if settings.seconds > 0, began.seconds >= Double(settings.seconds), !isStopping {
                isStopping = true
                for sender in senders { sender.terminate() }
            }
        }
        let growth = series.map { samples in
            let third = samples.count / 3
            return samples.isEmpty ? 0 : (samples[third...].max() ?? 0) - samples[third]
        }
        return (peak, growth.max() ?? 0)
    }

    /// Until the server has waited for the senders' backends: before that their processor time is nobody's.
    private func waitForBackends() throws(Failure) {
        let own = try queue.query("reading the backend's id", "SELECT pg_backend_pid()").int(0, 0) ?? 0
        let statement =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> \(own) AND backend_type = 'client backend'"
        for _ in 0..<50 {
            let left = try queue.query("waiting for the senders' backends", statement).int(0, 0) ?? 0
            // One that has just signed off is reaped a moment later.
            try interruption.pause(milliseconds: 100)
            if left == 0 { return }
        }
    }

    /// The processor time of a sender that ended well.
    private static func end(_ sender: ChildProcess) throws(Failure) -> Int {
        guard let ending = sender.poll(), ending.code == 0 else {
            throw sender.failure("todoke-sender ended with code \(sender.ending?.code ?? -1)")
        }
        return ending.cpuMicroseconds
    }

    private func sample(
        start: String, cpu: Int, memory: (peak: Int, growth: Int), before: ServerFigures, after: ServerFigures
    ) throws(Failure) -> SenderSample {
        let row = try queue.query(
            "reading the results",
            """
            SELECT count(*) FILTER (WHERE state = 'sent'), count(*) FILTER (WHERE state = 'pending'), count(*),
                extract(epoch FROM max(finished_at) - $1::timestamptz),
                extract(epoch FROM percentile_disc(0.5) WITHIN GROUP (ORDER BY finished_at - greatest(due_at, $1::timestamptz))) * 1000,
                extract(epoch FROM percentile_disc(0.99) WITHIN GROUP (ORDER BY finished_at - greatest(due_at, $1::timestamptz))) * 1000
            FROM todoke.messages
            """, [.text(start)])
        let sent = row.int(0, 0) ?? 0
        let pending = row.int(0, 1) ?? 0
        guard sent > 0, sent + pending == row.int(0, 2), settings.seconds > 0 || pending == 0 else {
            throw Failure(
                .software,
                "the senders ended, and \((row.int(0, 2) ?? 0) - sent - pending) messages are neither sent nor pending",
                remedy: "run it with --sink emulator --backlog 1000 and look at the sender's log")
        }
        let count = Double(sent)
        return SenderSample(
            messages: sent, pending: pending,
            cost: Sample(
                messagesPerSecond: count / max(0.001, row.double(0, 3) ?? 0), cpuMicroseconds: Double(cpu) / count),
            postgresMicroseconds: after.cpu(since: before).map { $0 / count },
            statements: Double(after.statements - before.statements) / count, peakKiB: memory.peak,
            growthKiB: memory.growth, recordedP50: row.double(0, 4) ?? 0, recordedP99: row.double(0, 5) ?? 0)
    }
}

/// What one round of the senders came to.
struct SenderSample {
    let messages: Int
    /// What they left when they were told to stop.
    let pending: Int
    let cost: Sample
    let postgresMicroseconds: Double?
    /// For each message.
    let statements: Double
    let peakKiB: Int
    let growthKiB: Int
    /// Milliseconds from the start, when all was due, to the recorded result.
    let recordedP50: Double
    let recordedP99: Double
}

extension ServerFigures {
    /// Microseconds of processor time between two looks.
    func cpu(since earlier: ServerFigures) -> Double? {
        guard let cpuMicroseconds, let before = earlier.cpuMicroseconds else { return nil }
        return Double(cpuMicroseconds - before)
    }
}
