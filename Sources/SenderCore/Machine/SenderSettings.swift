package import Delivery

/// What the machine is told once: sizes, and times in nanoseconds.
package struct MachineSettings: Sendable {
    /// An app to send for, and which of the sender's credentials it uses.
    package struct App: Equatable, Sendable {
        package let name: String
        /// From 0; several apps may share one.
        package let credential: Int

        package init(name: String, credential: Int = 0) {
            self.name = name
            self.credential = credential
        }
    }

    package var apps: [App]
    /// Streams over all connections.
    package var slots = 200
    /// Rows claimed beyond the free streams.
    package var prefetch = 1_500
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
    /// How long a cold app takes to its whole share of the rate; 0 for at once.
    package var ramp: Int64 = 60_000_000_000
    /// A message is not tried again once this long has passed since it was first due.
    package var maximumAge: Int64 = 86_400_000_000_000
    package var maximumAttempts = RetryPolicy.maximumAttempts
    package var retry = RetryPolicy()

    package init(apps: [App]) { self.apps = apps }

    /// Apps that all use the same credentials.
    package init(apps: [String]) { self.init(apps: apps.map { App(name: $0) }) }
}
