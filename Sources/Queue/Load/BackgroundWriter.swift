import Dispatch

/// Writes one chunk at a time on a thread of its own, so that the next chunk is made while the server works on this one.
///
/// `@unchecked Sendable` is right because the semaphore hands everything over: whoever has taken it is alone with the
/// writer, the chunk and the outcome, and that is the queue's block from `submit` until it signals, else the caller.
final class BackgroundWriter: @unchecked Sendable {
    private let writer: ChunkWriter
    private let queue = DispatchQueue(label: "todoke.load")
    private let idle = DispatchSemaphore(value: 1)
    private var chunk = LoadChunk()
    private var failure: LoadError?
    private var total = LoadCounts()

    init(_ writer: sending ChunkWriter) {
        self.writer = writer
    }

    /// What the chunks written so far came to.
    var counts: LoadCounts {
        idle.wait()
        defer { idle.signal() }
        return total
    }

    /// Takes the chunk and leaves an empty one in its place; throws why an earlier one could not be written.
    func submit(_ next: inout LoadChunk) throws(LoadError) {
        idle.wait()
        if let failure {
            idle.signal()
            throw failure
        }
        swap(&chunk, &next)
        next.reset()
        queue.async { [self] in
            do throws(LoadError) {
                let added = try writer.write(&chunk)
                total.add(added)
            } catch { failure = error }
            idle.signal()
        }
    }

    func wait() {
        idle.wait()
        idle.signal()
    }

    /// Waits until everything is written; throws why it could not be.
    func settle() throws(LoadError) {
        idle.wait()
        defer { idle.signal() }
        if let failure { throw failure }
    }

    /// Waits until everything is written, and lets go of the notification.
    func release(complete: Bool) throws(LoadError) {
        idle.wait()
        defer { idle.signal() }
        if let failure { throw failure }
        try writer.release(complete: complete)
    }

    /// Lets go of the notification whatever happened before.
    func abandon() {
        idle.wait()
        defer { idle.signal() }
        try? writer.release(complete: false)
    }
}
