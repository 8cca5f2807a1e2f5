import Operations

/// What the command line asks for, checked.
struct ProducerOptions {
    enum Audience: Equatable {
        case file(String)
        case query(file: String)
    }
    enum Format: String { case csv, ndjson }

    let app: String
    let notificationID: String
    let template: String
    let audience: Audience
    /// `nil`: by the first character of the input.
    let format: Format?
    let databaseURL: String?
    let sourceDatabaseURL: String?
    let image: String?
    let priority: Int
    /// Seconds.
    let expiresIn: Int?
    let schedule: ScheduleOptions
    /// The column of which each value gets one message; `nil` is the target.
    let dedupeBy: String?
    let append: Bool
    let maxRejections: Int?
    let dryRun: Bool
    let preview: Int?
    let json: Bool

    init(_ options: ParsedOptions) throws(Failure) {
        app = try options.required("app")
        notificationID = try options.required("notification-id")
        template = try options.required("template")
        switch (Self.given("audience", options), Self.given("audience-sql", options)) {
        case (let file?, nil): audience = .file(file)
        case (nil, let file?): audience = .query(file: file)
        default:
            throw Failure(
                .usage, "exactly one of --audience and --audience-sql is needed", remedy: "see todoke-producer --help")
        }
        switch audience {
        case .file("-") where template == "-", .query(file: "-") where template == "-":
            throw Failure(
                .usage, "template and audience cannot both be standard input", remedy: "put one of them in a file")
        default: break
        }
        if let text = options.string("audience-format") {
            guard let known = Format(rawValue: text) else {
                throw Failure(.usage, "--audience-format must be csv or ndjson", remedy: "see todoke-producer --help")
            }
            format = known
        } else {
            format = nil
        }
        databaseURL = options.string("database-url")
        sourceDatabaseURL = Self.given("source-database-url", options) ?? databaseURL
        image = options.string("image")
        priority = try options.integer("priority", in: 0...9) ?? 5
        expiresIn = try options.duration("expires-in", in: 1...31_536_000)
        schedule = try ScheduleOptions(options)
        dedupeBy = Self.given("dedupe-by", options)
        append = options.isSet("append")
        maxRejections = try options.integer("max-rejections", in: 0...Int.max)
        preview = try options.integer("preview", in: 1...1_000_000)
        dryRun = options.isSet("dry-run")
        json = options.isSet("json")
        // The system's text was repaired on its way here; two ids with different faults would be one.
        guard !notificationID.unicodeScalars.contains("\u{FFFD}") else {
            throw Failure(.usage, "--notification-id is not valid UTF-8", remedy: "write it in UTF-8")
        }
        guard !notificationID.utf8.contains(0), notificationID.utf8.count <= 500 else {
            throw Failure(
                .usage, "--notification-id is longer than 500 bytes", remedy: "choose a short one: devices get it too")
        }
    }

    /// An option's text; one that is empty, such as that of an unset shell variable, counts as not given.
    private static func given(_ name: String, _ options: ParsedOptions) -> String? {
        options.string(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    static let table = OptionTable(
        program: "todoke-producer",
        summary: "queues one notification for an audience: each target once, however often it is run",
        usage:
            "todoke-producer --app NAME --notification-id ID --template FILE (--audience FILE | --audience-sql FILE)",
        options: [
            Option("app", "NAME", help: "The app in todoke.apps that the notification is for."),
            Option(
                "notification-id", "ID",
                help: "Names what is said. The same id run again queues only what is missing."),
            Option(
                "template", "FILE",
                help: "The FCM message object as JSON, with {{column}} inside its strings; - is standard input."),
            Option(
                "audience", "FILE",
                help:
                    "Rows as CSV with a header line, or as NDJSON (nested values: {{user.name}}); - is standard input."),
            Option(
                "audience-format", "FORMAT",
                help: "csv or ndjson. Without it: NDJSON when the input begins with a brace, CSV otherwise."),
            Option("audience-sql", "FILE", help: "A SELECT whose rows are the audience; - is standard input."),
            Option(
                "source-database-url", "URL",
                help: "Where --audience-sql runs. Without it: the queue's database."),
            .databaseURL,
            Option(
                "image", "URL",
                help:
                    "A picture for a template that has none, with {{column}} as in the template. Left out of a message where it is empty."
            ),
            Option("priority", "N", default: "5", help: "0 to 9; 9 is sent first."),
            Option(
                "at", "TIME",
                help:
                    "When it is due, as RFC 3339 with an offset, at most 28 days ahead. Without it: at once."),
            Option(
                "at-local", "HH:MM",
                help: "Due when clocks show this time next in the row's own zone; from --at on, if that is given."),
            Option("timezone-column", "COLUMN", help: "The audience's column with that zone, such as Asia/Tokyo."),
            Option(
                "default-timezone", "ZONE",
                help: "The zone of rows that name none, or none that exists. Without it: such rows are refused."),
            Option(
                "spread", "TIME",
                help:
                    "Spreads what is due evenly over this long, such as 10m: FCM asks not to send everything at the full hour. Without it: not at all."
            ),
            Option(
                "expires-in", "TIME",
                help:
                    "How long after it is due a message is still worth sending, in seconds or as 10m, 4h, 1d; sets android.ttl and apns-expiration. Without it: for ever."
            ),
            Option(
                "dedupe-by", "COLUMN",
                help:
                    "One message for each value of this column, such as user_id; the first row counts. Without it: one for each target."
            ),
            Option(
                "append", help: "Add to a notification that was begun with another template or audience."),
            Option(
                "max-rejections", "N",
                help: "Stop when more than N rows are refused; what was good before stays queued. Without it: never."),
            Option("dry-run", help: "Render and check every row and write nothing."),
            Option("preview", "N", help: "Print the first N messages as JSON lines and write nothing."),
            .json,
        ],
        example: """
            todoke-producer --app recipes --notification-id "daily-recipe-$(date +%F)" \\
                --template recipe.json --audience-sql audience.sql --expires-in 14400
            """)
}
