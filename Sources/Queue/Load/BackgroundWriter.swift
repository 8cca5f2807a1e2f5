import Dispatch

/// Writes one chunk at a time on a thread of its own, so that the next chunk is made while the server works on this one.
///
/// Between two chunks it renews the lease: the next row may be long in coming.
///
/// `@unchecked Sendable` is right because the semaphore hands everything over: whoever has taken it is alone with the
/// writer, the chunk and the outcome, and that is the queue's block from `submit` until it signals, else the caller. The
/// timer is made once, before anybody else knows of it, and takes the semaphore like the others.
final class BackgroundWriter: @unchecked Sendable {
    private let writer: ChunkWriter
    private let queue = DispatchQueue(label: "todoke.load")
    private let idle = DispatchSemaphore(value: 1)
    private var chunk = LoadChunk()
    private var failure: LoadError?
    private var total = LoadCounts()
    private var isReleased = false
    private let renewal: any DispatchSourceTimer

    init(_ writer: sending ChunkWriter, renewEvery seconds: Double) {
        self.writer = writer
        renewal = DispatchSource.makeTimerSource(queue: queue)
        renewal.schedule(deadline: .now() + seconds, repeating: seconds)
        renewal.setEventHandler { [weak self] in self?.renew() }
        renewal.activate()
    }

    deinit { renewal.cancel() }

    /// Renews the lease, unless a chunk is being written, which does that too.
    private func renew() {
        guard idle.wait(timeout: .now()) == .success else { return }
        defer { idle.signal() }
        guard failure == nil && !isReleased else { return }
        do throws(LoadError) { try writer.renew() } catch { failure = error }
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
        isReleased = true
        if let failure { throw failure }
        try writer.release(complete: complete)
    }

    /// Lets go of the notification whatever happened before.
    func abandon() {
        idle.wait()
        defer { idle.signal() }
        isReleased = true
        try? writer.release(complete: false)
    }
}
