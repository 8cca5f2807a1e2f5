import Delivery
package import Operations
import Queue

/// Where the machine stands at one moment, for metrics, health and heartbeats.
package struct SenderSnapshot: Sendable {
    package struct App: Sendable {
        package let name: String
        package let credential: Int
        package let ready: Int
        package let inFlight: Int
        /// This sender's share of the app's rate, in messages a second.
        package let share: Int
        /// Messages a second that it may post now.
        package let rate: Double
        /// Messages it could post at once.
        package let bucketLevel: Int
        /// Seconds until it may post again, as the provider asked; 0 when it may.
        package let holdSeconds: Double
        package let isPaused: Bool
        /// Why its breaker is open, while it is.
        package let fault: Failure?
    }

    package let apps: [App]
    package let inFlight: Int
    package let capacity: Int
    /// Results that the database does not have for certain.
    package let resultsWaiting: Int
    /// Those of them that the database refuses while it takes others.
    package let resultsAside: Int
    /// Seconds for which each credential's access token is still good; 0 without one.
    package let tokenSeconds: [Double]
    package let isDatabaseReady: Bool
    package let isListening: Bool
    package let isStopping: Bool
    package let duplicateRisk: Int
    package let refusedResults: Int
}

extension SenderMachine {
    package func snapshot(now: Int64) -> SenderSnapshot {
        SenderSnapshot(
            apps: apps.map { app in
                var rate = app.rate
                let level = rate.available(isUrgent: true, now: now)
                return SenderSnapshot.App(
                    name: app.name, credential: app.credential, ready: app.ready.count, inFlight: app.inFlight,
                    share: Int(rate.share), rate: rate.level, bucketLevel: level,
                    holdSeconds: Double(max(0, app.holdUntil - now)) / 1e9, isPaused: app.info?.isPaused ?? false,
                    fault: app.breaker.fault)
            },
            inFlight: slots.inFlight, capacity: capacity, resultsWaiting: results.count,
            resultsAside: results.asideCount,
            tokenSeconds: tokens.map { Double(max(0, $0.expiresAt - now)) / 1e9 }, isDatabaseReady: isDatabaseReady,
            isListening: isListening, isStopping: isStopping, duplicateRisk: duplicateRisk,
            refusedResults: refusedResults)
    }
}
