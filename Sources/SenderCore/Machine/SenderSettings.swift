package import Delivery

/// What the machine is told once: sizes, and times in nanoseconds.
package struct MachineSettings: Sendable {
    package var apps: [String]
    /// Streams over all connections.
    package var slots = 200
    /// Rows claimed beyond the free streams.
    package var prefetch = 500
    package var leaseSeconds = 60
    /// The longest a post may take; a row with less lease left is released, not posted.
    package var requestTimeout: Int64 = 20_000_000_000
    package var drains = false
    package var stopTimeout: Int64 = 30_000_000_000
    package var startupTimeout: Int64 = 30_000_000_000
    package var pollInterval: Int64 = 1_000_000_000
    /// The longest a result waits for others before it is recorded.
    package var recordDelay: Int64 = 20_000_000
    package var recordBatch = 500
    package var maximumAttempts = RetryPolicy.maximumAttempts
    package var retry = RetryPolicy()

    package init(apps: [String]) { self.apps = apps }
}
