/// Text for a standard stream that is gathered and written in large pieces.
///
/// Flush it before a wait, so that a reader at the other end of a pipe sees what is done. Not `Sendable`: for one thread.
package final class BufferedOutput {
    private let stream: StandardStream
    private var text = ""
    private let limit = 64 << 10

    package init(_ stream: StandardStream) {
        self.stream = stream
    }

    deinit { flush() }

    package func writeLine(_ line: String) {
        text += line
        text += "\n"
        // However large a piece of input is, what is said about it does not pile up.
        if text.utf8.count > limit { flush() }
    }

    package func flush() {
        guard !text.isEmpty else { return }
        stream.write(text)
        text.removeAll(keepingCapacity: true)
    }
}
