import Operations

/// The emulator's command line.
enum EmulatorOptions {
    static let table = OptionTable(
        program: "fcm-emulator",
        summary: """
            a local endpoint that answers like FCM v1 and Google's token endpoint.

            Serves HTTP/2 over TLS and writes into the directory what a client needs: ca.pem, service-account.json, \
            endpoint
            (its URL; written last, so that its appearance means ready), and accepted.ndjson: one line per accepted \
            message,
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
            Option("no-accepted-log", help: "Do not write accepted.ndjson."),
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
        (settings.host, settings.port) = try address(options.required("listen"))
        settings.directory = try options.required("directory")
        settings.projects = try projects(options.required("project"))
        settings.tokenLifetime = try options.integer("token-lifetime", in: 0...86_400) ?? 3599
        settings.latency = try options.integer("latency", in: 0...3_600_000) ?? 0
        settings.maxConcurrentStreams = try options.integer("max-streams", in: 1...100_000) ?? 100
        settings.keepsAcceptedLog = !options.isSet("no-accepted-log")
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

    private static func address(_ text: String) throws(Failure) -> (host: String, port: Int) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw usage("--listen must be HOST:PORT, for example 127.0.0.1:0 or [::1]:8443, not \"\(text)\"")
        }
        var host = text[..<colon]
        if host.hasPrefix("[") && host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw usage("--listen has no host: \"\(text)\"") }
        return (String(host), Int(port))
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
