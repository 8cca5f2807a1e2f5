import Operations

/// What the loop knows at the time of a scrape.
struct ScrapeContext {
    let snapshot: SenderSnapshot
    let isReady: Bool
    let suppressedLines: Int
    let connections: (now: Int, opened: Int)
    let process: ProcessStatistics
}

extension SenderMetrics {
    /// Everything, as `/metrics` shows it.
    func exposition(_ context: ScrapeContext) -> String {
        var out = Exposition()
        writeMessages(context.snapshot, to: &out)
        writePosts(context, to: &out)
        writeRate(context.snapshot, to: &out)
        writeCredentials(context.snapshot, to: &out)
        writeDatabase(context.snapshot, to: &out)
        out.single(SenderFamilies.isReady, context.isReady ? 1 : 0)
        out.single(SenderFamilies.suppressed, context.suppressedLines)
        out.begin(SenderFamilies.build)
        out.sample(1, ["version": Version.current])
        context.process.write(to: &out)
        return out.text
    }

    private func writeMessages(_ snapshot: SenderSnapshot, to out: inout Exposition) {
        perApp(SenderFamilies.claimed, to: &out, \.claimed)
        perApp(SenderFamilies.sent, to: &out, \.sent)
        perCode(SenderFamilies.failed, to: &out, \.failed)
        perCode(SenderFamilies.retried, to: &out, \.retried)
        perApp(SenderFamilies.returned, to: &out, \.returned)
        perApp(SenderFamilies.expired, to: &out, \.expired)
        perApp(SenderFamilies.cancelled, to: &out, \.cancelled)
        out.single(SenderFamilies.housekeeping, expiredByHousekeeping)
        out.single(SenderFamilies.rescued, rescued)
        out.single(SenderFamilies.refused, snapshot.refusedResults)
        out.single(SenderFamilies.duplicateRisk, snapshot.duplicateRisk)
        perApp(SenderFamilies.ready, snapshot, to: &out) { Double($0.ready) }
        perApp(SenderFamilies.inFlight, snapshot, to: &out) { Double($0.inFlight) }
        out.single(SenderFamilies.resultsWaiting, snapshot.resultsWaiting)
        out.begin(SenderFamilies.oldestDue)
        for app in apps { out.sample(app.oldestDueSeconds ?? 0, ["app": app.name]) }
    }

    private func writePosts(_ context: ScrapeContext, to out: inout Exposition) {
        perApp(SenderFamilies.posts, to: &out, \.posted)
        out.begin(SenderFamilies.answers)
        for app in apps {
            for (status, count) in app.answers.enumerated() where count > 0 || status == 200 {
                out.sample(count, ["app": app.name, "status": status == 0 ? LabelledCounter.other : "\(status)"])
            }
            out.sample(app.notIssued, ["app": app.name, "status": "not_issued"])
            out.sample(app.unknown, ["app": app.name, "status": "unknown"])
        }
        out.begin(SenderFamilies.latency)
        for app in apps { out.sample(app.latency, ["app": app.name]) }
        out.single(SenderFamilies.connections, context.connections.now)
        out.single(SenderFamilies.connectionsOpened, context.connections.opened)
        out.single(SenderFamilies.capacity, context.snapshot.capacity)
    }

    private func writeRate(_ snapshot: SenderSnapshot, to out: inout Exposition) {
        perApp(SenderFamilies.rate, snapshot, to: &out) { $0.rate }
        perApp(SenderFamilies.share, snapshot, to: &out) { Double($0.share) }
        perApp(SenderFamilies.bucket, snapshot, to: &out) { Double($0.bucketLevel) }
        perApp(SenderFamilies.hold, snapshot, to: &out) { $0.holdSeconds }
        perApp(SenderFamilies.paused, snapshot, to: &out) { $0.isPaused ? 1 : 0 }
        out.begin(SenderFamilies.breaker)
        for app in snapshot.apps {
            for kind in FaultKind.allCases {
                out.sample(app.fault.map(FaultKind.init) == kind, ["app": app.name, "fault": kind.rawValue])
            }
        }
    }

    private func writeCredentials(_ snapshot: SenderSnapshot, to out: inout Exposition) {
        out.begin(SenderFamilies.tokenSeconds)
        for (index, seconds) in snapshot.tokenSeconds.enumerated() { out.sample(seconds, ["credential": "\(index)"]) }
        out.begin(SenderFamilies.tokenRefreshes)
        for (index, count) in tokenRefreshes.enumerated() { out.sample(count, ["credential": "\(index)"]) }
        out.begin(SenderFamilies.tokenFailures)
        for (index, count) in tokenFailures.enumerated() { out.sample(count, ["credential": "\(index)"]) }
    }

    private func writeDatabase(_ snapshot: SenderSnapshot, to out: inout Exposition) {
        out.single(SenderFamilies.databaseUp, snapshot.isDatabaseReady ? 1 : 0)
        out.single(SenderFamilies.connects, databaseConnects)
        out.single(SenderFamilies.losses, databaseLosses)
        out.single(SenderFamilies.listening, snapshot.isListening ? 1 : 0)
        out.single(SenderFamilies.wakeUps, wakeUps)
        for (family, counts) in [
            (SenderFamilies.statements, statements.sent), (SenderFamilies.statementFailures, statements.failed),
        ] {
            out.begin(family)
            for kind in StatementKind.allCases { out.sample(counts[kind] ?? 0, ["statement": "\(kind)"]) }
        }
        for (family, histogram) in [
            (SenderFamilies.claimLatency, claimLatency), (SenderFamilies.claimRows, claimRows),
            (SenderFamilies.recordLatency, recordLatency),
        ] {
            out.begin(family)
            out.sample(histogram)
        }
    }

    private func perApp(_ family: MetricFamily, to out: inout Exposition, _ value: (AppMetrics) -> Int) {
        out.begin(family)
        for app in apps { out.sample(value(app), ["app": app.name]) }
    }

    private func perCode(_ family: MetricFamily, to out: inout Exposition, _ counter: (AppMetrics) -> LabelledCounter) {
        out.begin(family)
        for app in apps {
            for (code, count) in counter(app).values.sorted(by: { $0.key < $1.key }) {
                out.sample(count, ["app": app.name, "code": code])
            }
        }
    }

    private func perApp(
        _ family: MetricFamily, _ snapshot: SenderSnapshot, to out: inout Exposition,
        _ value: (SenderSnapshot.App) -> Double
    ) {
        out.begin(family)
        for app in snapshot.apps { out.sample(value(app), ["app": app.name]) }
    }
}

/// Why a breaker is open, in as few words as an alert needs; the log and `/readyz` have the sentence.
enum FaultKind: String, CaseIterable {
    /// Credentials or settings: a person has to act.
    case configuration
    /// Network or provider: it may pass by itself.
    case unavailable

    init(_ failure: Failure) {
        self = failure.exit == .unavailable || failure.exit == .temporary ? .unavailable : .configuration
    }
}
