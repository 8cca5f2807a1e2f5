/// What is known of one connection to the main port.
final class ConnectionEntry {
    let id: Int
    /// Nanoseconds of the monotonic clock.
    let opened: Int64
    /// Known after the handshake; nil before, and for those that fail in it.
    var isHTTP2: Bool?
    var ended: Int64?
    /// Requests of all kinds.
    var requests = 0
    /// Requests to `messages:send`.
    var messages = 0
    /// Requests that are open: received and not yet answered.
    var streams = 0
    var peakStreams = 0

    init(id: Int, opened: Int64) {
        self.id = id
        self.opened = opened
    }
}
