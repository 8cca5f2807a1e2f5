import Delivery
import Operations
import Queue

/// What is done every few seconds, and knowing when a drain is over.
extension SenderMachine {
    /// Rescue, heartbeat, and the end of what expired while nobody could claim it.
    mutating func keepHouse(now: Int64) {
        if now >= nextRescueAt, knowsWork, !isStopping, !workAskedFor.contains(.rescue), !isBehindWithResults(now: now)
        {
            // Twice in the life of a lease, at least once in ten seconds.
            nextRescueAt = now + min(10, max(1, Int64(settings.leaseSeconds) / 2)) * 1_000_000_000
            ask(.rescue, .rescue(apps: apps.compactMap { $0.info?.id }))
        }
        if now >= nextHeartbeatAt, !workAskedFor.contains(.heartbeat) {
            nextHeartbeatAt = now + Int64(Work.heartbeatSeconds) * 1_000_000_000
            ask(.heartbeat, .heartbeat(takeVitals(now: now)))
        }
        if now >= nextHousekeepingAt, knowsWork, !isStopping, !workAskedFor.contains(.housekeeping) {
            nextHousekeepingAt = now + Housekeeping.interval
            let still = apps.filter { $0.info?.isPaused == true || $0.breaker.fault != nil }.compactMap { $0.info?.id }
            // Partitions and old senders are everybody's: looked after also where every app is well.
            let isThorough = now >= nextThoroughHousekeepingAt
            if isThorough { nextThoroughHousekeepingAt = now + Housekeeping.rareInterval }
            if isThorough || !still.isEmpty {
                ask(.housekeeping, .keepHouse(apps: still, isThorough: isThorough))
            }
        }
    }

    /// The look came to nothing: without tomorrow's partition messages have no place tomorrow.
    mutating func keepHouseSoon(now: Int64) {
        nextThoroughHousekeepingAt = min(nextThoroughHousekeepingAt, now + Housekeeping.repeatInterval)
    }

    /// Results that do not get through belong to rows whose lease may have run out: a rescue of one's own would have
    /// them sent again though their outcome is known.
    private func isBehindWithResults(now: Int64) -> Bool {
        results.unconfirmedSince.map { now - $0 > 3_000_000_000 } ?? false
    }

    mutating func rescued(_ count: Int, now: Int64) {
        if count > 0 {
            floors.forget(now: now)
            nextWorkAt = now
            log(.info, "rescued messages whose lease ran out", ["messages": "\(count)"])
        }
        if count == Rescue.limit { nextRescueAt = now }
    }

    /// Nothing due, nothing held, every result recorded: then only what others hold can keep a drain going.
    var mayDrainNow: Bool {
        settings.drains && !isStopping && knowsWork && due.isEmpty && held == 0 && results.isEmpty && !claimedSinceWork
            && workAskedFor.isDisjoint(with: [.work, .claim, .urgent, .unfinished])
    }

    /// Results were refused; false when they are set aside, and the sender goes on without them.
    mutating func refused(_ failure: Failure, now: Int64) -> Bool {
        switch results.refused(now: now, pause: settings.pollInterval) {
        case .sentAgain: return true
        case .setAside(let record):
            log(
                .error, "results set aside: the database refuses them and takes others",
                ["day": "\(record.day)", "messages": "\(record.results.count)", "why": failure.what])
        case .stillAside: break
        }
        failingSince[.record] = nil
        failingSince[.verify] = nil
        return false
    }

    mutating func askWhetherDrained(now: Int64) {
        if settings.drains, !isStopping, knowsWork, due.isEmpty, held == 0, results.hasOnlyAside, !claimedSinceWork {
            return finish(
                .temporary,
                failure: Failure(
                    .temporary, "results refused by the database: \(results.count)",
                    remedy: "look at the log for its reason; their messages are sent again when their lease ends"))
        }
        guard mayDrainNow, now >= nextDrainCheckAt else { return }
        let active = apps.compactMap { app in app.info.flatMap { $0.isPaused ? nil : $0.id } }
        guard !active.isEmpty else {
            finish(.ok, failure: nil)
            return
        }
        nextDrainCheckAt = now + min(settings.pollInterval, 200_000_000)
        ask(.unfinished, .askUnfinished(apps: active))
    }
}
