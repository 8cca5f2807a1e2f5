import CTLS

/// A server socket or TLS setting that the system or libssl refused, in words for a person.
package struct HTTP2Error: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of thing went wrong, for the exit code.
    package enum Kind: Sendable { case system, tls, memory }

    package let kind: Kind
    /// One line, without key material.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }

    /// The first reason in libssl's error queue behind `what`; empties the queue.
    static func fromTLS(_ what: String) -> HTTP2Error {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else { return HTTP2Error(.tls, what) }
        return HTTP2Error(.tls, "\(what): \(String(cString: reason))")
    }
}
