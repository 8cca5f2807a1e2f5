package import Delivery
package import Postgres

/// Loads the messages of one notification, chunk by chunk: each chunk is one transaction, so a run that dies leaves
/// whole chunks only, and senders start with the first.
///
/// A chunk is written in the background while the next one is made: an error shows at the next full chunk or at the end.
package final class Loader {
    private let lease: LoadLease
    private let request: LoadRequest
    private let day: Int32
    private let background: BackgroundWriter
    private var chunk = LoadChunk()
    /// How many rows are read before the next commit; few at first, so that senders start at once.
    private var rowLimit = 200

    private static let largestRowLimit = 5_000
    private static let byteLimit = 4 << 20

    /// Finds or makes the notification and takes it for this run; nobody else may use the connection from now on.
    ///
    /// - Parameter renewEvery: seconds after which the lease is renewed without a chunk; a third of it unless a test says
    ///   otherwise.
    package init(
        _ connection: sending Connection, _ request: LoadRequest, renewEvery: Double? = nil
    ) throws(LoadError) {
        lease = try LoadLease.acquire(request, connection)
        guard let day = BinaryCopy.days(lease.day) else { throw .noPartition(day: lease.day) }
        self.day = day
        self.request = request
        background = BackgroundWriter(
            ChunkWriter(connection, lease, request, day: day),
            renewEvery: renewEvery ?? Double(lease.run.leaseSeconds) / 3)
    }

    /// A run that is dropped has ended: nothing goes on behind its back.
    deinit { background.wait() }

    /// When messages are due that have no time of their own, in microseconds since 1970: when the notification was made,
    /// the same for every run, or with `append` when this run began.
    package var dueMicroseconds: Int { lease.dueMicroseconds }

    /// The targets that an app of the sandbox may have, by their keys; `nil` for an app that may have any.
    package var allowedTargets: Set<DedupeKey>? { lease.allowedTargets }

    /// What the committed chunks came to.
    package var counts: LoadCounts { background.counts }

    /// Adds a message, and hands the chunk over when it is full.
    ///
    /// - Parameters:
    ///   - device: the row of `devices` that it is for.
    ///   - due: microseconds since 1970.
    package func add(
        _ payload: Span<UInt8>, target: MessageTarget, userID: Span<UInt8>, device: Int? = nil, key: DedupeKey,
        due: Int,
        ttl: (start: Int, length: Int)?
    ) throws(LoadError) {
        chunk.append(
            payload, day: day, notification: lease.notification, target: target, userID: userID, device: device,
            key: key,
            due: due, ttl: request.expiresIn == nil ? nil : ttl)
        try submitIfFull()
    }

    /// Adds a refused row, and hands the chunk over when it is full.
    package func reject(line: Int, reason: String, input: String) throws(LoadError) {
        chunk.reject(line: line, reason: reason, input: input)
        try submitIfFull()
    }

    /// Counts a row that was left out.
    package func skip() throws(LoadError) {
        chunk.skip()
        try submitIfFull()
    }

    /// Commits what is left and lets go of the notification.
    package func finish() throws(LoadError) { try end(complete: true) }

    /// Commits what has been read so far and lets go of the notification, without calling it loaded.
    package func stop() throws(LoadError) { try end(complete: false) }

    /// Waits for what was handed over.
    package func settle() throws(LoadError) { try background.settle() }

    /// Lets go of the notification after a failure, if that is possible: the lease runs out otherwise.
    package func abandon() { background.abandon() }

    private func end(complete: Bool) throws(LoadError) {
        if !chunk.isEmpty { try background.submit(&chunk) }
        try background.release(complete: complete)
    }

    private func submitIfFull() throws(LoadError) {
        guard chunk.rowsRead >= rowLimit || chunk.byteCount >= Self.byteLimit else { return }
        try background.submit(&chunk)
        rowLimit = min(rowLimit * 5, Self.largestRowLimit)
    }
}
