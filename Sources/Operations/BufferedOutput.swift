#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Text for a standard stream that is gathered and written in large pieces.
///
/// Flush it before a wait, so that a reader at the other end of a pipe sees what is done. Not `Sendable`: for one thread.
package final class BufferedOutput {
    private let stream: StandardStream
    private var text = ""
    private let limit = 64 << 10
    private var failure: Failure?

    package init(_ stream: StandardStream) {
        self.stream = stream
    }

    deinit { flush() }

    /// Something could not be written; ``finish()`` says what.
    package var hasFailed: Bool { failure != nil }

    package func writeLine(_ line: String) {
        text += line
        text += "\n"
        // However large a piece of input is, what is said about it does not pile up.
        if text.utf8.count > limit { flush() }
    }

    /// Writes what is left; throws when anything could not be written.
    package func finish() throws(Failure) {
        flush()
        if let failure { throw failure }
    }

    package func flush() {
        guard !text.isEmpty else { return }
        if failure == nil, !stream.write(text) {
            failure = Failure(
                .configuration, "cannot write the output: \(String(cString: strerror(errno)))",
                remedy: "make room, or write elsewhere, and run it again")
        }
        text.removeAll(keepingCapacity: true)
    }
}
