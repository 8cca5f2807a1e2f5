import Delivery
import Operations

/// What the command line of `todoke explain` asks for.
enum ExplainRequest {
    case one(AnswerCase)
    case batch(path: String, AnswerCase.Defaults)

    /// Reads the options, and the body where there is one; `now` counts where `--now` is not given.
    init(_ options: ParsedOptions, now: Int) throws(Failure) {
        let provider = try Self.provider(options)
        var now = now
        if let text = options.string("now") {
            guard let time = AnswerCase.time(text) else {
                throw Self.usage(
                    "--now must be seconds since 1970, or a date such as \"Mon, 30 Nov 2026 08:00:00 GMT\"", options)
            }
            now = time
        }
        let attempt = try options.integer("attempt", in: AnswerCase.attempts) ?? 1
        if let path = options.string("batch") {
            let single = ["status", "header", "body", "transport-error", "issued", "not-issued"]
            if let other = single.first(where: { options.isSet($0) }) {
                throw Self.usage("--batch and --\(other) exclude each other: lines of a batch have their own", options)
            }
            self = .batch(path: path, .init(provider: provider, now: now, attempt: attempt))
            return
        }
        let isIssued = try Self.isIssued(options)
        let transport = try Self.transport(options)
        let status = try options.integer("status", in: AnswerCase.statuses)
        guard status != nil || transport != nil else {
            throw Self.usage("one of --status, --transport-error and --batch is needed", options)
        }
        if isIssued != nil, transport == nil {
            throw Self.usage("--issued and --not-issued say something only beside --transport-error", options)
        }
        if isIssued == false, status != nil {
            throw Self.usage("--not-issued and --status exclude each other: a status answers a request", options)
        }
        if status == nil, let other = ["header", "body"].first(where: { options.isSet($0) }) {
            throw Self.usage("--\(other) needs --status", options)
        }
        var given = AnswerCase(provider: provider, transport: transport, isIssued: isIssued, now: now, attempt: attempt)
        if let status {
            let headers = try Self.headers(options)
            var body: [UInt8] = []
            if let path = options.string("body") {
                body = try InputFile.beginning(path, option: "body", limit: AnswerCase.keptBody)
            }
            given.answer = AnswerCase.answer(status: status, headers: headers, body: body)
        }
        self = .one(given)
    }

    private static func provider(_ options: ParsedOptions) throws(Failure) -> AnswerCase.Provider {
        let text = options.string("provider") ?? ""
        guard let provider = AnswerCase.Provider(rawValue: text.lowercased()) else {
            throw usage("--provider must be fcm or apns, not \"\(text)\"", options)
        }
        return provider
    }

    private static func isIssued(_ options: ParsedOptions) throws(Failure) -> Bool? {
        switch (options.isSet("issued"), options.isSet("not-issued")) {
        case (true, true): throw usage("--issued and --not-issued exclude each other", options)
        case (true, false): true
        case (false, true): false
        case (false, false): nil
        }
    }

    private static func transport(_ options: ParsedOptions) throws(Failure) -> TransportCode? {
        guard let text = options.string("transport-error") else { return nil }
        guard let code = TransportCode(text) else {
            throw usage(
                "--transport-error must be a code of libcurl from 1 to 255 or a name such as COULDNT_CONNECT, "
                    + "not \"\(text)\"", options)
        }
        return code
    }

    private static func headers(_ options: ParsedOptions) throws(Failure) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        for text in options.strings("header") {
            guard let header = AnswerCase.header(text) else {
                throw usage("--header must be \"NAME: VALUE\", not \"\(text)\"", options)
            }
            headers.append(header)
        }
        return headers
    }

    private static func usage(_ what: String, _ options: ParsedOptions) -> Failure {
        Failure(.usage, what, remedy: "see \(options.program) --help")
    }
}
