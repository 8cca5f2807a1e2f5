import Operations

extension ProducerOptions {
    static let table = OptionTable(
        program: "todoke-producer",
        summary: "queues one notification for an audience: each target once, however often it is run",
        usage: """
            todoke-producer --app NAME --notification-id ID CONTENT AUDIENCE
              CONTENT: --template FILE, or --title, --body and --data
              AUDIENCE: one of --audience, --audience-sql, --all, --channel, --users, --target, --topic, --condition, --fid
            """,
        options: identity + content + audience + schedule + guards + output,
        example: """
            todoke-producer --app recipes --notification-id "daily-recipe-$(date +%F)" \\
                --template recipe.json --audience-sql audience.sql --expires-in 4h
            todoke-producer --app recipes --target TOKEN --title "Hello" --body "It works."
            """)

    private static let identity: [Option] = [
        Option("app", "NAME", help: "The app in todoke.apps that the notification is for."),
        Option(
            "notification-id", "ID",
            help:
                "Names what is said. The same id run again queues only what is missing. Only a single message may go without: it gets a UUID."
        ),
        .databaseURL,
        Option("campaign", "NAME", help: "Groups notifications, for people. The first run's counts."),
        Option(
            "append", help: "Add to a notification that was begun with another template or audience."),
        Option(
            "if-running", "WHAT", default: "skip",
            help: "While another run loads this notification: skip ends with 75, wait waits for it."),
    ]

    private static let content: [Option] = [
        Option(
            "template", "FILE",
            help: "The FCM message object as JSON, with {{column}} inside its strings; - is standard input."),
        Option(
            "template-for", "LOCALE=FILE", repeatable: true,
            help:
                "The template for rows of a locale: pt also serves pt-BR, where that has none of its own. --template serves all others."
        ),
        Option(
            "locale-column", "COLUMN",
            help: "The audience's column with the row's locale, for --template-for. Without it: locale."),
        Option("title", "TEXT", help: "The notification's title, where there is no template; may hold {{column}}."),
        Option("body", "TEXT", help: "The notification's body, likewise."),
        Option("data", "KEY=VALUE", repeatable: true, help: "A value of the message's data, likewise."),
        Option(
            "image", "URL",
            help:
                "A picture for a template that has none, with {{column}} as in the template. Left out of a message where it is empty."
        ),
    ]

    private static let audience: [Option] = [
        Option(
            "audience", "FILE",
            help:
                "Rows as CSV with a header line, or as NDJSON (nested values: {{user.name}}); - is standard input."),
        Option(
            "audience-format", "FORMAT",
            help: "csv or ndjson. Without it: NDJSON when the input begins with a brace, CSV otherwise."),
        Option("delimiter", "CHARACTER", default: ",", help: "What stands between two fields of CSV; tab is one, too."),
        Option("audience-sql", "FILE", help: "A SELECT whose rows are the audience; - is standard input."),
        Option(
            "source-database-url", "URL",
            help: "Where --audience-sql runs. Without it: the queue's database."),
        Option("all", help: "Every device of the app in todoke.devices that can receive."),
        Option(
            "channel", "NAME", repeatable: true,
            help: "Every device that is subscribed to this channel, or to one of several."),
        Option(
            "users", "FILE",
            help:
                "The devices of these users: CSV or NDJSON with a column user_id, whose other columns are placeholders too."
        ),
        Option("platform", "NAME", repeatable: true, help: "Of those devices only: ios, android or web."),
        Option("locale", "LOCALE", repeatable: true, help: "Of those devices only: pt also takes pt-BR."),
        Option(
            "seen-within", "DAYS",
            help:
                "Of those devices only: seen in the last DAYS, 1 to 270. Without it: 270, after which FCM has dropped a token."
        ),
        Option("target", "TOKEN", help: "One device, by its registration token."),
        Option("topic", "NAME", help: "One topic."),
        Option("condition", "TEXT", help: "One condition over topics, such as \"'a' in topics && 'b' in topics\"."),
        Option("fid", "ID", help: "One device, by its Firebase installation id."),
        Option(
            "dedupe-by", "COLUMN",
            help:
                "One message for each value of this column, such as user_id; the first row counts, and of a user's devices in the registry the one seen last. Without it: one for each target."
        ),
    ]

    private static let schedule: [Option] = [
        Option("priority", "N", default: "5", help: "0 to 9; 9 is sent first."),
        Option(
            "at", "TIME",
            help:
                "When it is due, as RFC 3339 with an offset, at most 28 days ahead. Without it: at once."),
        Option(
            "at-local", "HH:MM",
            help: "Due when clocks show this time next in the row's own zone; from --at on, if that is given."),
        Option(
            "timezone-column", "COLUMN",
            help: "The audience's column with that zone, such as Asia/Tokyo; the registry's is time_zone."),
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
            "delivery", "MODE",
            help:
                "What becomes of a message whose outcome is unknown: at-least-once sends it again, at-most-once does not. Without it: what the app says."
        ),
    ]

    private static let guards: [Option] = [
        Option(
            "max-audience", "N",
            help:
                "Queue nothing when the audience has more than N rows. It is read twice for that; of standard input, which cannot be, the first N are queued. Without it: any number."
        ),
        Option("limit", "N", help: "End after N rows; a later run without it queues the others. Without it: all rows."),
        Option(
            "only-targets", "FILE",
            help: "Leave out every row whose target is not in this file, one a line. Without it: none."),
        Option(
            "validate-only",
            help: "FCM checks the messages and delivers none: they end as sent without reaching a device."),
        Option(
            "max-rejections", "N|P%",
            help:
                "Stop when more than N rows, or P % of at least 1000, are refused; what was good before stays queued. Without it: never."
        ),
        Option("dry-run", help: "Render and check every row and write nothing."),
        Option("preview", "N", help: "Print the first N messages as JSON lines and write nothing."),
    ]

    private static let output: [Option] = [.json]
}
