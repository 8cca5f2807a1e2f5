import Operations

/// The command line of `todoke-sender`.
enum SenderOptions {
    static let table = OptionTable(
        program: "todoke-sender",
        summary: "claims due messages, posts them to FCM over HTTP/2, and records what came of each.",
        usage: "todoke-sender --app NAME [options]",
        options: [
            Option("app", "NAME", repeatable: true, help: "An app of todoke.apps to send for."),
            Option(
                "credentials", "[APP=]FILE", repeatable: true,
                help:
                    "Key file of a service account or a user, for all apps or for one. Without it: "
                    + "GOOGLE_APPLICATION_CREDENTIALS, gcloud's own file, the metadata server. SIGHUP has files read again."
            ),
            .databaseURL,
            Option(
                "direct-database-url", "URL",
                help:
                    "The same database past a pooler, for LISTEN. Without it: as --database-url; where LISTEN does not work there, the sender polls."
            ),
            Option(
                "statement-timeout", "SECONDS", default: "30",
                help: "How long the database may be silent before the connection is given up."),
            Option(
                "endpoint", "URL", default: "https://fcm.googleapis.com",
                help: "Where to post over HTTP/2; https only."),
            Option(
                "ca-file", "FILE",
                help: "PEM file of the only certificate authorities to trust. Without it: the system's."),
            Option(
                "drain", help: "End when nothing is due, in flight or waiting for a retry, instead of waiting for more."
            ),
            Option(
                "lease", "SECONDS", default: "60",
                help: "How long a claimed message is this sender's. A post may take a third of it, 10 s to 30 s."),
            Option("connections", "N", default: "5", help: "HTTP/2 connections, 1 to 32."),
            Option(
                "streams", "N", default: "100",
                help: "Requests at a time on each connection, 1 to 1000; FCM allows 100."),
            Option(
                "connection-age", "SECONDS", default: "3600",
                help: "How long a connection is used, a tenth more or less, before a new one takes over."),
            Option(
                "connection-requests", "N", default: "1000000",
                help: "Requests after which a new connection takes over; 0 for any number."),
            Option("max-attempts", "N", default: "10", help: "Answers about a message after which it fails."),
            Option(
                "retry-base", "SECONDS", default: "10",
                help: "The shortest wait before a retry; the longest doubles with each, up to an hour."),
            Option(
                "max-age", "SECONDS", default: "86400",
                help: "A message is not tried again once this long has passed since it was first due."),
            Option(
                "ramp", "SECONDS", default: "60",
                help: "How long the rate takes from cold to the app's messages per second; 0 for at once."),
            Option(
                "poll-interval", "MILLISECONDS", default: "1000", help: "How often to look for due messages when idle."),
            Option(
                "startup-timeout", "SECONDS", default: "30",
                help:
                    "How long a database or provider may refuse before the first success, and a failing drain goes on."),
            Option(
                "stop-timeout", "SECONDS", default: "30", help: "How long to wait for posts under way after SIGTERM."),
            Option(
                "metrics-listen", "[HOST:]PORT",
                help:
                    "Serve /metrics for Prometheus, and /healthz and /readyz; without HOST on 127.0.0.1. Port 0 takes a free one, which the log names. Without it: not served."
            ),
            .logFormat,
            .logLevel,
        ],
        example: """
            todoke-sender --app recipes --credentials service-account.json --database-url postgres://queue.internal/push
            """)
}
