import Operations

/// What a heartbeat says about the sender.
package struct SenderVitals: Equatable, Sendable {
    /// Messages claimed and not finished.
    package let held: Int
    package let duplicateRisk: Int
    /// `running`, or why it is not ready.
    package let state: String
    /// Messages per second sent since the heartbeat before.
    package let rate: Double
}

extension SenderMachine {
    /// The vitals at `now`; the rate is counted anew from here.
    package mutating func takeVitals(now: Int64) -> SenderVitals {
        let seconds = max(0.001, Double(now - vitalsTakenAt) / 1_000_000_000)
        defer {
            sentSinceVitals = 0
            vitalsTakenAt = now
        }
        return SenderVitals(
            held: held, duplicateRisk: duplicateRisk, state: stateText, rate: Double(sentSinceVitals) / seconds)
    }

    private var stateText: String {
        if isFinished { return held == 0 && results.isEmpty ? "stopped" : "gave up" }
        if isStopping { return "stopping" }
        for app in apps {
            if let fault = app.breaker.fault { return "breaker open for \(app.name): \(fault.what)" }
        }
        return "running"
    }
}
