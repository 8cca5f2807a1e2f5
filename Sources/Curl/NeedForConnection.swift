/// Why a transfer asked for a connection that its multi handle does not make.
package enum NeedForConnection: Sendable, Hashable {
    /// No request was put on a connection: the old one takes no more, or has no free stream.
    case beforeIssue
    /// The request was put on the connection, and the server said that it did not process it.
    ///
    /// It came back as REFUSED_STREAM, or lies above the last stream that a GOAWAY names. libcurl tells nobody, but in
    /// these cases, and no others that a server bound to HTTP/2 can bring about, it sends again without having noted
    /// an error, on a connection that is sound to the kernel. One that the server ended right after counts as died.
    case refused
    /// The connection died after the request was put on it: nobody knows whether it was processed.
    case connectionDied
}
