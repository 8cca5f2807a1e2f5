import Operations

/// What is to be measured, and how.
struct BenchSettings {
    enum Part: String, CaseIterable { case bare, sender, queue, idle }
    enum SinkKind: String { case nghttpd, emulator }

    let parts: [Part]
    let sink: SinkKind
    let rounds: Int
    let backlog: Int
    let senders: Int
    /// After how long the senders are told to stop; 0 when they drain the queue.
    let seconds: Int
    let days: Int
    let latencyMilliseconds: Int
    let connections: Int
    let streams: Int
    /// Of part queue, a round; 0 until the queue is empty.
    let claims: Int
    let idleMessages: Int
    let idleSeconds: Int
    let senderOptions: [String]
    let binaryDirectory: String

    init(_ options: ParsedOptions, program: String) throws(Failure) {
        func number(_ name: String, _ range: ClosedRange<Int>) throws(Failure) -> Int {
            // Every numeric option has a default.
            try options.integer(name, in: range) ?? range.lowerBound
        }
        func usage(_ what: String, _ remedy: String) -> Failure { Failure(.usage, what, remedy: remedy) }
        var parts: [Part] = []
        for name in options.strings("part") {
            guard let part = Part(rawValue: name) else {
                throw usage("there is no part \"\(name)\"", "name bare, sender, queue or idle")
            }
            if !parts.contains(part) { parts.append(part) }
        }
        self.parts = parts.isEmpty ? [.bare, .sender, .queue] : parts
        guard let sink = SinkKind(rawValue: options.string("sink") ?? "") else {
            throw usage("--sink must be nghttpd or emulator", "see todoke-bench --help")
        }
        self.sink = sink
        rounds = try number("rounds", 1...1_000)
        backlog = try number("backlog", 1...50_000_000)
        senders = try number("senders", 1...32)
        seconds = try number("seconds", 0...86_400)
        days = try number("days", 3...366)
        latencyMilliseconds = try number("latency", 0...60_000)
        connections = try number("connections", 1...32)
        streams = try number("streams", 1...1_000)
        claims = try number("claims", 0...1_000_000)
        idleMessages = try number("idle-messages", 1...1_000_000)
        idleSeconds = try number("idle-seconds", 1...3_600)
        senderOptions = options.strings("sender-option")
        binaryDirectory = options.string("bin") ?? ProgramPath.directory(program)
        guard latencyMilliseconds == 0 || sink == .emulator else {
            throw usage("nghttpd cannot answer late", "use --latency with --sink emulator")
        }
    }
}
