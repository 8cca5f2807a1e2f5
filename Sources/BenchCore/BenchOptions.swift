import Operations

/// The command line of `todoke-bench`.
enum BenchOptions {
    static let table = OptionTable(
        program: "todoke-bench",
        summary: "measures the sender against a bare libcurl loop, on this machine and in the same minutes.",
        usage: "todoke-bench [options]",
        options: [
            Option(
                "part", "NAME", repeatable: true,
                help: """
                    What to measure: bare (a libcurl loop that only posts), sender (todoke-sender from a loaded queue), queue \
                    (claim and record without posting), idle (enqueue to posted, and the cost of waiting; always with \
                    the emulator). Without it: bare, sender and queue.
                    """),
            Option("rounds", "N", default: "5", help: "Rounds of all parts in turn; the medians count."),
            Option(
                "backlog", "N", default: "200000", help: "Messages in the queue when a round begins, and bare posts."),
            Option("senders", "N", default: "1", help: "Senders that drain it together."),
            Option(
                "seconds", "N", default: "0",
                help: "Stop the senders after so long instead of draining the backlog; 0 drains it."),
            Option("days", "N", default: "31", help: "Day partitions of the scratch database, 3 to 366."),
            Option(
                "sink", "NAME", default: "nghttpd",
                help: "Who answers: nghttpd (answers as many bytes, checks nothing) or emulator (checks everything)."),
            Option(
                "latency", "MS", default: "0", help: "Milliseconds between a message and its answer; --sink emulator."),
            Option("connections", "N", default: "2", help: "HTTP/2 connections of the bare loop and of each sender."),
            Option("streams", "N", default: "100", help: "Requests at a time on each connection."),
            Option(
                "claims", "N", default: "0", help: "Part queue: claims a round; 0 goes on until the queue is empty."),
            Option("idle-messages", "N", default: "300", help: "Part idle: messages enqueued one at a time."),
            Option("idle-seconds", "N", default: "30", help: "Part idle: how long the waiting sender is watched."),
            Option(
                "sender-option", "TEXT", repeatable: true,
                help: "One more argument for todoke-sender, such as --lease=30."),
            Option("bin", "DIR", help: "Where todoke-sender and fcm-emulator are. Without it: beside this program."),
            Option(
                "sql-dir", "DIR",
                help: "The migrations. Without it: share/todoke/sql beside this program's bin, then ./sql."),
            Option(
                "database-url", "URL",
                help: """
                    A Postgres server where this user may create databases: postgres://… or key=value pairs; without it libpq's \
                    PG* variables count. A scratch database is made there and dropped again.
                    """),
            .json,
        ],
        example: """
            todoke-bench --rounds 5 --backlog 200000
            todoke-bench --sink emulator --latency 40 --connections 5 --json
            """)
}
