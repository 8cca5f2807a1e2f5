package import Operations
package import Queue

/// What the machine asks of its shell.
///
/// The shell performs it and answers with a ``SenderEvent``.
package enum SenderAction: Sendable {
    case askWork
    /// Asks where messages of a high priority are due, past everything else that waits for the database.
    case askUrgent(apps: [Int])
    case claim(Claim)
    case askUnfinished(apps: [Int])
    case record(Record)
    case verify(Record)
    case rescue(apps: [Int])
    /// Ends messages of these apps that expired while nobody could claim them; a thorough look comes first to what is
    /// nobody's in particular, partitions and senders that are gone.
    case keepHouse(apps: [Int], isThorough: Bool)
    case heartbeat(SenderVitals)
    case refreshToken(credential: Int)
    case post(PostOrder)
    case log(LogEntry)
    /// The end: nothing is in flight, or it is given up. `failure` is `nil` when all went well.
    case finish(ExitCode, failure: Failure?)
}

/// One message to post on one stream, once: whether it goes again is for the machine to say.
package struct PostOrder: Sendable {
    /// Which of the machine's streams, from 0.
    package let slot: Int
    package let projectID: String
    /// Whose access token it carries.
    package let credential: Int
    package let message: ClaimedMessage
    /// Whole seconds of life left, for the ttl; `nil` when the message does not expire.
    package let secondsLeft: Int?
}

/// Something worth a line in the log.
package struct LogEntry: Sendable {
    package let level: Log.Level
    package let message: String
    package let fields: KeyValuePairs<String, String>
}
