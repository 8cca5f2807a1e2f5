/// The connection that exchanges come by, as far as a fault can reach it.
protocol EmulatedConnection: AnyObject {
    /// Counts up from 1 over all connections of the process.
    var id: Int { get }
    var isHTTP2: Bool { get }
    /// The ticket of the latest request that came in.
    var lastTicket: Int { get }
    /// The highest ticket of a request that was decided: no GOAWAY may say that it was not processed.
    var decidedTicket: Int { get set }

    /// Cuts the connection off at once.
    func reset(by reset: Reset)

    /// Announces the end: requests above `lastTicket` were not processed, the others are still answered.
    ///
    /// On HTTP/1.1 the answers from now on carry `connection: close`.
    func goAway(lastTicket: Int, debugData: [UInt8])

    /// Tells the client how many requests it may have open at once. Nothing on HTTP/1.1, where there is one.
    func limitStreams(to count: Int)
}

/// How a connection is cut off.
enum Reset: String, CaseIterable, Sendable {
    /// An orderly end of the TCP connection, without a word of TLS or HTTP.
    case fin
    /// TCP RST: what was not sent is lost.
    case rst
    /// The socket stays open, and is never read or written again, as with a peer that lost its power.
    case silent
}
