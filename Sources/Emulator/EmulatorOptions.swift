import Operations

/// The emulator's command line.
enum EmulatorOptions {
    static let table = OptionTable(
        program: "fcm-emulator",
        summary: """
            a local endpoint that answers like FCM v1 and Google's token endpoint.

            Serves HTTP/2 and HTTP/1.1 over TLS and writes into the directory what a client needs: ca.pem, service-account.json, \
            authorized_user.json,
            endpoint (its URL; written last, so that its appearance means ready), and accepted.ndjson: one line per \
            accepted message,
            {"time":…,"project":…,"message":…}, appended before the answer is sent. Tokens and FIDs that begin with \
            "unregistered-"
            are answered 404 UNREGISTERED. --scenario makes it misbehave by rules; the fault flags are rules too, and \
            come first.
            Faults count messages:send requests; connection resets count valid ones.
            """,
        usage: "fcm-emulator --directory DIR [--listen HOST:PORT] [options]",
        options: [
            Option(
                "listen", "HOST:PORT", default: "127.0.0.1:0", help: "Where to listen; port 0 takes a free one."),
            Option(
                "control", "HOST:PORT", default: "127.0.0.1:0",
                help:
                    "Where the control API listens: a loopback address; port 0 takes a free one. DIR/control has its URL."
            ),
            Option("directory", "DIR", help: "Where the files for clients go; made if it is missing."),
            Option(
                "project", "ID[,ID…]", default: "demo-project",
                help: "The projects that exist; the key file is for the first."),
            Option(
                "scenario", "FILE", help: "JSON that says how to misbehave; see the documentation's Scenarios page."),
            Option(
                "token-lifetime", "SECONDS", default: "3599", help: "How long an access token is good for."),
            Option("latency", "MS", default: "0", help: "Milliseconds between a message and its answer."),
            Option(
                "max-streams", "N", default: "100", help: "Concurrent streams a connection may have; FCM allows 100."),
            Option(
                "accepted-log", "HOW", default: "on",
                help: "Write accepted.ndjson: on, off, or N for every Nth accepted message."),
            Option("no-accepted-log", help: "The same as --accepted-log off."),
            Option(
                "track-targets", "N", default: "1000000",
                help: "How many targets to remember, to find those that come twice: up to 32 bytes each; 0 is none."),
            Option("no-target-tracking", help: "The same as --track-targets 0."),
            Option("reset-before-accept", "N", help: "Cut the connection instead of accepting every Nth message."),
            Option("reset-after-accept", "N", help: "Cut the connection after accepting every Nth, unanswered."),
            Option("reset-by", "HOW", default: "rst", help: "Cut by fin, by rst, or silent (open but dead)."),
            Option("refuse-stream", "N", help: "Answer every Nth request with RST_STREAM, REFUSED_STREAM."),
            Option(
                "goaway", "N",
                help: "GOAWAY after every Nth request, with its id as the last one: later streams are not processed."),
            Option("fault-limit", "K", help: "At most K faults in all."),
            Option("quiet", help: "Print nothing but errors."),
        ],
        example: """
            fcm-emulator --directory /tmp/fcm &
            todoke-sender --app recipes --credentials /tmp/fcm/service-account.json --endpoint "$(cat /tmp/fcm/endpoint)" \
            --ca-file /tmp/fcm/ca.pem
            """)

    /// The settings, or a usage failure that names the option.
    static func settings(_ options: ParsedOptions) throws(Failure) -> EmulatorSettings {
        var settings = EmulatorSettings()
        (settings.host, settings.port) = try address(options.required("listen"), of: "listen")
        (settings.controlHost, settings.controlPort) = try loopback(options.required("control"))
        settings.directory = try options.required("directory")
        settings.projects = try projects(options.required("project"))
        settings.tokenLifetime = try options.integer("token-lifetime", in: 0...86_400) ?? 3599
        settings.latency = try options.integer("latency", in: 0...3_600_000) ?? 0
        settings.maxConcurrentStreams = try options.integer("max-streams", in: 1...100_000) ?? 100
        settings.acceptedLog = options.isSet("no-accepted-log") ? nil : try interval(options.required("accepted-log"))
        let tracked = try options.integer("track-targets", in: 0...SeenTable.mostCapacity) ?? 1_000_000
        settings.trackedTargets = options.isSet("no-target-tracking") ? 0 : tracked
        settings.isQuiet = options.isSet("quiet")
        if let path = options.string("scenario") { settings.scenario = try scenario(path) }
        let often = 1...1_000_000_000
        settings.faults.resetBeforeAccept = try options.integer("reset-before-accept", in: often)
        settings.faults.resetAfterAccept = try options.integer("reset-after-accept", in: often)
        settings.faults.refuseStream = try options.integer("refuse-stream", in: often)
        settings.faults.goAway = try options.integer("goaway", in: often)
        settings.faults.limit = try options.integer("fault-limit", in: 0...1_000_000_000)
        guard let reset = Reset(rawValue: try options.required("reset-by")) else {
            throw usage("--reset-by must be fin, rst or silent")
        }
        settings.faults.resetBy = reset
        return settings
    }

    /// Whoever reaches the control API may change what is answered, so it is not for other machines.
    private static func loopback(_ text: String) throws(Failure) -> (host: String, port: Int) {
        let (host, port) = try address(text, of: "control")
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        let isLoopback4 = numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
        guard isLoopback4 || host == "::1" || host == "localhost" else {
            throw usage("--control must be a loopback address such as 127.0.0.1:0 or [::1]:8080, not \"\(text)\"")
        }
        return (host, port)
    }

    private static func address(_ text: String, of option: String) throws(Failure) -> (host: String, port: Int) {
        let address = try ListenAddress(text, option: option)
        return (address.host, address.port)
    }

    /// 1 for every message, nil for none.
    private static func interval(_ text: String) throws(Failure) -> Int? {
        switch text {
        case "on": return 1
        case "off": return nil
        default:
            guard let interval = Int(text), interval >= 1 else {
                throw usage("--accepted-log must be on, off, or a number of messages, not \"\(text)\"")
            }
            return interval
        }
    }

    private static func projects(_ text: String) throws(Failure) -> [String] {
        var names: [String] = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            guard !name.isEmpty, name.utf8.allSatisfy(isPlain) else {
                throw usage("--project must be lower-case letters, digits and dashes, not \"\(name)\"")
            }
            guard !names.contains(name) else { throw usage("--project names \(name) twice") }
            names.append(name)
        }
        return names
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }

    private static func scenario(_ path: String) throws(Failure) -> ScenarioFile {
        guard let bytes = FileInput.readAll(path, limit: 16 << 20) else {
            throw Failure(
                .configuration, "cannot read the scenario \(path)",
                remedy: "give --scenario a file that this user may read, of at most 16 MiB")
        }
        do {
            return try ScenarioFile(bytes)
        } catch {
            throw Failure(.data, "\(path): \(error.place): \(error.problem)", remedy: error.remedy)
        }
    }

    private static func usage(_ what: String) -> Failure {
        Failure(.usage, what, remedy: "see fcm-emulator --help")
    }
}
