import CCrypto

/// What libcrypto refused, in words for a person; it never holds key material.
package struct SigningError: Error, Equatable, Sendable, CustomStringConvertible {
    /// One line, for example `the private key cannot be read: no start line`.
    package let message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }

    /// The first reason in libcrypto's error queue behind `what`; empties the queue.
    static func fromLibrary(_ what: String) -> SigningError {
        let code = ERR_get_error()
        ERR_clear_error()
        // Reason strings are constants of the library, so nothing of the input can be in them.
        guard code != 0, let reason = ERR_reason_error_string(code) else { return SigningError(what) }
        return SigningError("\(what): \(String(cString: reason))")
    }
}
