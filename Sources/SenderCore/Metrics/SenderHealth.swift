import Operations

/// What stands still though it should move, and what keeps the sender from its work: the lines of `/healthz` and
/// `/readyz`.
struct SenderHealth {
    let settings: MachineSettings
    /// Nanoseconds after which the shell gives a database connection up for lost; several statements may stand in line.
    let statementTimeout: Int64

    /// A post ends by libcurl's own limit; this much later it has been forgotten.
    private static let postMargin: Int64 = 5_000_000_000
    private static let second: Int64 = 1_000_000_000

    /// What is stuck; empty when the sender makes progress.
    ///
    /// Trouble of the database, the provider or the network is not among it: starting the sender again would not help.
    func stuck(_ metrics: SenderMetrics, _ snapshot: SenderSnapshot, now: Int64) -> [String] {
        var lines: [String] = []
        let second = Self.second
        let postLimit = settings.requestTimeout + Self.postMargin
        let old = metrics.posts.filter { $0.began != 0 && now - $0.began > postLimit }
        if let oldest = old.map(\.began).min() {
            lines.append(
                "\(old.count) of the posts under way are older than \(postLimit / second) s, one \((now - oldest) / second) s"
            )
        }
        if let (kind, askedAt) = metrics.oldestStatement {
            if now - askedAt > 4 * statementTimeout {
                lines.append("the statement for \(kind) has had no answer for \((now - askedAt) / second) s")
            }
        }
        // Once the leases are over others take the messages, and nothing is lost any more by starting again.
        let leaseIsOver = Int64(settings.leaseSeconds) * second + 30 * second
        // What is set aside is no reason to start again: it does not stop the sender.
        if snapshot.isDatabaseReady, snapshot.resultsWaiting > snapshot.resultsAside,
            let since = metrics.recordFailingSince,
            now - since > leaseIsOver
        {
            lines.append(
                "\(snapshot.resultsWaiting) results are not recorded, since the database has refused them for \((now - since) / second) s"
            )
        }
        let lastMove = max(metrics.lastPostAt, metrics.lastClaimAt)
        if Self.isAbleToPost(snapshot), now - lastMove > leaseIsOver, metrics.recordFailingSince == nil {
            lines.append(
                "claimed messages wait though nothing keeps them, and none was posted for \((now - lastMove) / second) s"
            )
        }
        return lines
    }

    /// What keeps it from sending; empty when it is ready.
    static func notReady(_ snapshot: SenderSnapshot) -> [String] {
        var lines: [String] = []
        if snapshot.isStopping { lines.append("stopping") }
        if !snapshot.isDatabaseReady { lines.append("no database connection") }
        for (index, seconds) in snapshot.tokenSeconds.enumerated() where seconds <= 0 {
            let apps = snapshot.apps.filter { $0.credential == index }.map(\.name)
            if !apps.isEmpty { lines.append("no access token for \(apps.joined(separator: ", "))") }
        }
        if snapshot.apps.allSatisfy({ $0.fault != nil }) {
            for app in snapshot.apps {
                if let fault = app.fault { lines.append("breaker open for \(app.name): \(fault.line)") }
            }
        }
        return lines
    }

    /// Right after the machine's turn, when everything that can be posted has been.
    private static func isAbleToPost(_ snapshot: SenderSnapshot) -> Bool {
        !snapshot.isStopping && snapshot.isDatabaseReady && snapshot.inFlight < snapshot.capacity
            && snapshot.apps.contains {
                $0.ready > 0 && $0.bucketLevel > 0 && $0.holdSeconds == 0 && !$0.isPaused && $0.fault == nil
                    && snapshot.tokenSeconds.indices.contains($0.credential) && snapshot.tokenSeconds[$0.credential] > 0
            }
    }
}
