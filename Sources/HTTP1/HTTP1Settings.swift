/// What a server takes from its clients.
package struct HTTP1Settings: Sendable {
    /// Open at a time; who comes when they are taken is turned away.
    package var maxConnections = 1024
    /// Bytes of a request's line and headers; more is answered 431 or 414.
    package var maxHeadBytes = 32 << 10
    /// Bytes of a body that are kept; the request is marked when there were more.
    package var maxBodyBytes = 128 << 10
    /// A body this many times longer than what is kept ends the connection.
    package var bodyPatience = 64
    /// Seconds without a byte after which a connection is closed; it does not count while an answer is awaited.
    package var idleSeconds = 60
    /// Seconds for a whole request from its first byte, so that a trickle does not hold a connection for ever.
    package var requestSeconds = 60
    /// Seconds for a client to take its whole answer, so that one who reads bit by bit does not hold a connection for ever;
    /// nil lets it.
    package var responseSeconds: Int?

    package init() {}
}

/// A server that libmicrohttpd did not give.
package struct HTTP1Error: Error, Equatable, Sendable, CustomStringConvertible {
    package let message: String
    package var description: String { message }
}
