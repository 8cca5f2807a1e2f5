import Delivery
import Operations
import Queue

/// Starting, staying, stopping, and when to wake up.
extension SenderMachine {
    mutating func refreshTokens(now: Int64) {
        guard !isStopping else { return }
        for credential in tokens.indices where tokens[credential].wantsRefresh(now: now) {
            actions.append(.refreshToken(credential: credential))
        }
    }

    mutating func tokenFailed(_ credential: Int, _ failure: Failure, now: Int64) {
        guard tokens.indices.contains(credential) else { return }
        tokens[credential].failed(now: now)
        if hadSuccess || !settings.drains {
            log(.error, "no access token", ["why": failure.what, "remedy": failure.remedy])
        }
        guard !tokens[credential].isUsable(now: now) else { return }
        for index in apps.indices where apps[index].credential == credential {
            openBreaker(app: index, failure, now: now)
            apps[index].isWaitingForToken = true
        }
    }

    /// The first stop gives back what was not posted and waits for what was; the second gives up.
    mutating func stopRequested(now: Int64) {
        if isStopping {
            finish(.temporary, failure: interrupted)
            return
        }
        stop(now: now)
    }

    /// Ends with the failure once everything that is under way has an end: what was posted is recorded.
    mutating func stop(because failure: Failure, now: Int64) {
        guard !isStopping else { return }
        stopFailure = failure
        stop(now: now)
    }

    private mutating func stop(now: Int64) {
        stopDeadline = now + settings.stopTimeout
        due = []
        log(.info, "stopping", ["in_flight": "\(inFlight)", "returned": "\(held - inFlight)"])
        for index in apps.indices { release(app: index, now: now) }
    }

    private var interrupted: Failure {
        Failure(
            .temporary, "stopped with \(inFlight) posts under way and \(results.count) results not recorded",
            remedy: "other senders take the messages over when their lease ends")
    }

    /// A database or provider that refuses ends a drain and a sender that never worked; one that worked goes on trying.
    mutating func checkStartAndStop(now: Int64) {
        if let deadline = stopDeadline {
            let isEmptyHanded = held == 0 && workAskedFor.isDisjoint(with: [.claim, .urgent])
            if isEmptyHanded && results.isEmpty {
                finish(stopFailure?.exit ?? .ok, failure: stopFailure)
            } else if now >= deadline || (isEmptyHanded && results.hasOnlyAside)
                || (stopFailure != nil && inFlight == 0 && !canRecord)
            {
                finish(stopFailure?.exit ?? .temporary, failure: stopFailure ?? interrupted)
            }
            return
        }
        if let fault = databaseFault, !isDatabaseReady {
            if !hadDatabase && (settings.drains || now - startedAt >= settings.startupTimeout) {
                finish(fault.exit, failure: fault)
            } else if hadDatabase && settings.drains && now - databaseLostAt >= settings.startupTimeout {
                finish(
                    .temporary,
                    failure: Failure(
                        .temporary, fault.what, remedy: "\(fault.remedy); then run it again, nothing is lost"))
            }
            return
        }
        guard held == 0, results.isEmpty, !hasWorkForOthers,
            let index = apps.firstIndex(where: { $0.breaker.fault != nil }), let fault = apps[index].breaker.fault
        else { return }
        // A sender that waits for work has worked once it got an access token; a drain only when a post was answered.
        if hadSuccess || (!settings.drains && tokens.contains { $0.generation > 0 }) {
            guard settings.drains, now - apps[index].openedAt >= settings.startupTimeout else { return }
            finish(
                .temporary,
                failure: Failure(.temporary, fault.what, remedy: "\(fault.remedy); then run it again, nothing is lost"))
        } else if settings.drains || now - startedAt >= settings.startupTimeout {
            finish(fault.exit, failure: fault)
        }
    }

    /// Messages are due, or were just claimed, for an app whose breaker is closed: one app's fault does not end them.
    private var hasWorkForOthers: Bool {
        workAskedFor.contains(.claim)
            || due.contains { due in apps.contains { $0.info?.id == due.app && $0.breaker.fault == nil } }
    }

    /// The machine looks around at least this often.
    private static var longestWait: Int64 { 10_000_000_000 }

    /// When the machine wants to be asked again if nothing happens before.
    package func nextDeadline(now: Int64) -> Int64 {
        var deadline = now + Self.longestWait
        func consider(_ time: Int64?) {
            if let time, time > now { deadline = min(deadline, time) }
        }
        consider(stopDeadline)
        consider(rightOfWay.until)
        for token in tokens { consider(token.deadline) }
        if isDatabaseReady {
            consider(nextWorkAt)
            if isBusy { consider(workAskedAt + Self.busyInterval) }
            consider(nextRescueAt)
            consider(nextHeartbeatAt)
            consider(nextHousekeepingAt)
            consider(nextDrainCheckAt)
            consider(results.holdUntil)
            consider(results.nextRetryAt)
            if !results.waiting.isEmpty && results.isIdle { consider(results.oldest + settings.recordDelay) }
        } else {
            consider(databaseLostAt + settings.startupTimeout)
            consider(startedAt + settings.startupTimeout)
        }
        for app in apps {
            consider(app.holdUntil)
            if !app.ready.isEmpty { consider(app.ready.earliestLeaseEnds - settings.requestTimeout) }
            if case .open(let until, _, _) = app.breaker {
                consider(until)
                consider((hadSuccess ? app.openedAt : startedAt) + settings.startupTimeout)
            }
            // Only where nothing but the rate is in the way: everything else has a time of its own, or is an event.
            let streams = app.ready.hasUrgent ? capacity : usualCapacity
            if !app.ready.isEmpty, slots.inFlight < streams, !isStopping, canRecord, app.mayPost(now: now),
                tokens[app.credential].isUsable(now: now)
            {
                // At most a thousand times a second: tokens that fill up meanwhile go together.
                var rate = app.rate
                let wait = rate.nanosecondsUntilNext(isUrgent: app.ready.hasUrgent, now: now)
                consider(wait.map { $0 > Self.longestWait ? .max : now + max($0, 1_000_000) })
            }
        }
        return deadline
    }
}
