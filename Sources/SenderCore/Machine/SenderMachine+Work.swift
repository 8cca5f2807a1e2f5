import Delivery
import Operations
import Queue

/// Finding and claiming work, and knowing when there is none left.
extension SenderMachine {
    /// Claim sizes: literals from a fixed set, so that the planner always knows the limit.
    private static let claimSizes = [500, 100, 20, 5, 1]

    mutating func learnWork(apps found: [Work.App], due: [Work.Due], nextInMilliseconds: Int?, now: Int64) {
        let missing = settings.apps.map(\.name).filter { name in !found.contains { $0.name == name } }
        guard missing.isEmpty else {
            let list = missing.map { "\"\($0)\"" }.joined(separator: ", ")
            let failure = Failure(
                .configuration, "no FCM app \(list) in todoke.apps",
                remedy: "INSERT INTO todoke.apps (name, project_id) VALUES ('NAME', 'FIREBASE-PROJECT')")
            // It may have been there before: then there may be posts under way and results to record.
            if knowsWork { stop(because: failure, now: now) } else { finish(failure.exit, failure: failure) }
            return
        }
        for info in found {
            guard let index = apps.firstIndex(where: { $0.name == info.name }) else { continue }
            let earlier = apps[index].info.map { _ in apps[index].share }
            apps[index].info = info
            let share = apps[index].share
            if earlier == nil {
                apps[index].bucket = AppState.bucket(perSecond: share, now: now)
            } else if share != earlier {
                apps[index].bucket.setRate(Double(share), burst: Double(share), now: now)
            }
            if info.isPaused { release(app: index, now: now) }
        }
        knowsWork = true
        claimedSinceWork = false
        self.due = due.filter { due in apps.contains { $0.info?.id == due.app && $0.info?.isPaused == false } }
        nextWorkAt = now + min(settings.pollInterval, Int64(nextInMilliseconds ?? .max / 1_000_000) * 1_000_000)
    }

    mutating func askForWork(now: Int64) {
        // Also while there is work: messages of a higher priority may have come in the meantime.
        guard !isStopping else { return }
        if !urgentApps.isEmpty, !workAskedFor.contains(.urgent) {
            ask(.urgent, .askUrgent(apps: urgentApps.sorted()))
            urgentApps = []
        }
        if now >= nextWorkAt, !workAskedFor.contains(.work) { ask(.work, .askWork) }
    }

    /// Claims when a whole batch fits: as many rows as can be posted soon, higher priorities first.
    mutating func claim(now: Int64) {
        guard !isStopping, canRecord, !workAskedFor.contains(.claim) else { return }
        // Beyond the batches that are usual, results take the place of messages: somebody may hold a lock on their rows,
        // and what was posted and not recorded is posted again by others when its lease ends.
        let room = settings.slots + settings.prefetch - held - max(0, results.count - 2 * settings.recordBatch)
        for item in due {
            guard let app = apps.first(where: { $0.info?.id == item.app }), now >= app.holdUntil,
                tokens[app.credential].isUsable(now: now)
            else { continue }
            let soon = max(1, app.share * max(1, settings.leaseSeconds / 4)) - app.held
            let allowance = app.breaker.allowance(now: now)
            let wanted = min(room, soon, allowance == .max ? .max : allowance - app.held)
            guard wanted > 0, let limit = Self.claimSizes.first(where: { $0 <= wanted }) else { continue }
            // A small claim costs as much as a large one: wait until the usual size fits, unless it never will.
            let usual = min(Self.claimSizes[0], settings.prefetch, app.share * max(1, settings.leaseSeconds / 4))
            guard limit >= min(usual, Self.claimSizes[0]) || app.held == 0 || allowance != .max else { continue }
            ask(.claim, .claim(Claim(app: item.app, priority: item.priority, day: item.day, limit: limit)))
            return
        }
    }

    /// Milliseconds, some thirty years: what Postgres calls a date may lie further away than a clock of nanoseconds counts.
    private static let longestLife: Int64 = 1_000_000_000_000

    mutating func take(_ answer: Claim.Answer, of claim: Claim, askedAt: Int64, now: Int64) {
        if answer.taken < claim.limit {
            due.removeAll { $0 == Work.Due(app: claim.app, priority: claim.priority, day: claim.day) }
        }
        if answer.taken > 0 { claimedSinceWork = true }
        // What was claimed may have hidden more of it behind locks of others: look again soon, but not in a storm.
        if due.isEmpty && claimedSinceWork { nextWorkAt = min(nextWorkAt, now + 50_000_000) }
        guard let index = apps.firstIndex(where: { $0.info?.id == claim.app }) else { return }
        for message in answer.messages {
            let held = HeldMessage(
                message: message, leaseEnds: askedAt + Int64(settings.leaseSeconds) * 1_000_000_000,
                expires: message.expiresInMilliseconds.map { askedAt + min(Int64($0), Self.longestLife) * 1_000_000 })
            apps[index].ready.append(held)
        }
        for key in answer.withoutPayload {
            results.append(
                MessageResult(
                    key: key, next: .failed, errorCode: "PAYLOAD_MISSING", outcome: VerdictClass.payload.rawValue,
                    detail: "The message has no row in todoke.payloads: there is nothing to send."), now: now)
        }
        if isStopping || apps[index].breaker.allowance(now: now) == 0 { release(app: index, now: now) }
    }

    /// Rescue, heartbeat, and the end of what expired while nobody could claim it.
    mutating func keepHouse(now: Int64) {
        let ids = apps.compactMap { $0.info?.id }
        if now >= nextRescueAt, !ids.isEmpty, !isStopping, !workAskedFor.contains(.rescue) {
            // Twice in the life of a lease, at least once in ten seconds.
            nextRescueAt = now + min(10, max(1, Int64(settings.leaseSeconds) / 2)) * 1_000_000_000
            ask(.rescue, .rescue(apps: ids))
        }
        if now >= nextHeartbeatAt, !workAskedFor.contains(.heartbeat) {
            nextHeartbeatAt = now + Int64(Work.heartbeatSeconds) * 1_000_000_000
            ask(.heartbeat, .heartbeat(takeVitals(now: now)))
        }
        let still = apps.filter { $0.info?.isPaused == true || $0.breaker.fault != nil }.compactMap { $0.info?.id }
        if now >= nextHousekeepingAt, knowsWork, !isStopping, !workAskedFor.contains(.housekeeping) {
            nextHousekeepingAt = now + Housekeeping.interval
            if !still.isEmpty { ask(.housekeeping, .keepHouse(apps: still)) }
        }
    }

    /// Nothing due, nothing held, every result recorded: then only what others hold can keep a drain going.
    var mayDrainNow: Bool {
        settings.drains && !isStopping && knowsWork && due.isEmpty && held == 0 && results.isEmpty && !claimedSinceWork
            && workAskedFor.isDisjoint(with: [.work, .claim, .unfinished])
    }

    mutating func askWhetherDrained(now: Int64) {
        guard mayDrainNow, now >= nextDrainCheckAt else { return }
        let active = apps.compactMap { app in app.info.flatMap { $0.isPaused ? nil : $0.id } }
        guard !active.isEmpty else {
            finish(.ok, failure: nil)
            return
        }
        nextDrainCheckAt = now + min(settings.pollInterval, 200_000_000)
        ask(.unfinished, .askUnfinished(apps: active))
    }

    private mutating func ask(_ kind: StatementKind, _ action: SenderAction) {
        workAskedFor.insert(kind)
        actions.append(action)
    }
}
