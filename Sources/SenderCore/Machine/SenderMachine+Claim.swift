import Delivery
import Operations
import Queue

/// Claiming: as many rows as can be posted soon, higher priorities first, urgent ones past everything else.
extension SenderMachine {
    /// Claim sizes: literals from a fixed set, so that the planner always knows the limit.
    private static let claimSizes = [1_000, 500, 100, 20, 5, 1]
    /// Room for urgent rows beyond what usual ones may fill.
    static let urgentRoom = 200
    /// Never more than can be posted in so many seconds, or in a quarter of the lease.
    private static let postableSeconds = 5

    private static func size(within count: Int) -> Int? { claimSizes.first { $0 <= count } }

    /// Asks for the next urgent rows if their lane is free.
    mutating func claimUrgent(now: Int64) {
        guard !isStopping, canRecord, !workAskedFor.contains(.urgent) else { return }
        claim(isUrgent: true, now: now)
    }

    /// Asks for the next of the other rows if their lane is free.
    mutating func claimUsual(now: Int64) {
        guard !isStopping, canRecord, !workAskedFor.contains(.claim), !rightOfWay.isGiven(now: now) else { return }
        claim(isUrgent: false, now: now)
    }

    private mutating func claim(isUrgent: Bool, now: Int64) {
        var next: (place: Work.Due, app: Int, limit: Int)?
        for place in due where place.isUrgent == isUrgent {
            // Highest priorities come first. Within one, the app that holds least: another may want more each time.
            if let next, place.priority < next.place.priority { break }
            guard let index = apps.firstIndex(where: { $0.info?.id == place.app }),
                apps[index].held < next.map({ apps[$0.app].held }) ?? .max,
                let limit = claimLimit(app: index, isUrgent: isUrgent, now: now)
            else { continue }
            next = (place, index, limit)
        }
        if let next { return ask(next.place, app: next.app, limit: next.limit, now: now) }
        guard !isUrgent else { return }
        // Woken, and not yet told where: most likely where the last ones were.
        for index in apps.indices where apps[index].isExpected {
            guard let place = apps[index].lastPlace, isServed(place),
                !due.contains(where: { $0.app == place.app && !$0.isUrgent }),
                let limit = claimLimit(app: index, isUrgent: false, now: now)
            else { continue }
            return ask(place, app: index, limit: limit, now: now)
        }
    }

    private mutating func ask(_ place: Work.Due, app index: Int, limit: Int, now: Int64) {
        let kind = place.isUrgent ? StatementKind.urgent : .claim
        underWay[kind] = limit
        if place.isUrgent { rightOfWay.begin(now: now) } else { apps[index].isExpected = false }
        let floor = floors.floor(for: place, now: now)
        ask(kind, .claim(Claim(app: place.app, priority: place.priority, day: place.day, limit: limit, floor: floor)))
    }

    /// How many rows to ask for now; `nil` when the app may not claim, or better waits until more fit.
    private func claimLimit(app index: Int, isUrgent: Bool, now: Int64) -> Int? {
        let app = apps[index]
        guard let info = app.info, now >= app.holdUntil, tokens[app.credential].isUsable(now: now) else { return nil }
        let allowance = app.breaker.allowance(now: now)
        if allowance != .max {
            // A probe, whatever its priority.
            return allowance > app.held && underWay.isEmpty ? 1 : nil
        }
        // Beyond the batches that are usual, results take the place of messages: somebody may hold a lock on their rows,
        // and what was posted and not recorded is posted again by others when its lease ends.
        let unrecorded = max(0, results.pressing - 2 * settings.recordBatch)
        let all = settings.slots + (info.isAtMostOnce ? 0 : settings.prefetch)
        let postable = app.postable(seconds: max(1, min(Self.postableSeconds, settings.leaseSeconds / 4)))
        if isUrgent {
            let room = all + Self.urgentRoom - held - (underWay[.claim] ?? 0) - unrecorded
            var wanted = min(room, postable - app.ready.urgentCount)
            if info.isAtMostOnce { wanted = min(wanted, postableAtOnce(app, isUrgent: true, now: now)) }
            guard wanted > 0, let limit = Self.size(within: wanted) else { return nil }
            // A small claim costs as much as a large one: while some wait already, until many fit.
            let isWorthIt = limit >= min(500, postable / 2) || app.ready.urgentCount <= 50
            return isWorthIt ? limit : nil
        }
        // Every app that has work gets the same part of the room.
        let part = max(1, all / max(1, sharers(with: index)))
        let urgent = max(0, (underWay[.urgent] ?? 0) - Self.urgentRoom)
        var wanted = min(all - held - urgent - unrecorded, part - app.held, postable - app.held)
        if info.isAtMostOnce {
            wanted = min(wanted, postableAtOnce(app, isUrgent: false, now: now))
        }
        guard wanted > 0, let limit = Self.size(within: wanted) else { return nil }
        let usual = min(
            Self.claimSizes[0], max(1, info.isAtMostOnce ? min(part, capacity) / 2 : part * 2 / 3), max(1, postable / 2)
        )
        return limit >= (Self.size(within: usual) ?? 1) || app.held == 0 ? limit : nil
    }

    /// What is claimed and not posted when this sender is killed fails where a message is sent at most once: no more than can
    /// go at once.
    private func postableAtOnce(_ app: AppState, isUrgent: Bool, now: Int64) -> Int {
        var rate = app.rate
        let other = (underWay[isUrgent ? .claim : .urgent] ?? 0) + app.ready.count
        return min(capacity - inFlight, rate.available(isUrgent: isUrgent, now: now)) - other
    }

    private func sharers(with index: Int) -> Int {
        guard apps.count > 1 else { return 1 }
        return apps.indices.count { other in
            other == index || apps[other].held > 0 || due.contains { $0.app == apps[other].info?.id }
        }
    }

    /// Milliseconds, some thirty years: what Postgres calls a date may lie further away than a clock of nanoseconds counts.
    private static let longestLife: Int64 = 1_000_000_000_000

    mutating func take(_ answer: Claim.Answer, of claim: Claim, askedAt: Int64, now: Int64) {
        let place = Work.Due(app: claim.app, priority: claim.priority, day: claim.day)
        let index = apps.firstIndex { $0.info?.id == claim.app }
        // With a floor, or where others claim at the same time, a batch may come back short though there is more.
        if answer.taken * 2 < claim.limit && claim.floor == nil { due.removeAll { $0 == place } }
        floors.learn(answer, of: claim, at: place, askedAt: askedAt, now: now)
        if answer.taken > 0 {
            claimedSinceWork = true
            if let index {
                if claim.isUrgent { apps[index].lastUrgent = (place, now) } else { apps[index].lastPlace = place }
            }
        }
        // What was claimed may have hidden more of it behind locks of others: look again soon, but not in a storm.
        if due.isEmpty && claimedSinceWork { nextWorkAt = min(nextWorkAt, now + 50_000_000) }
        guard let index else {
            // The app has another row or none since the claim left.
            for message in answer.messages { results.append(.untouched(message.key), now: now) }
            return
        }
        for message in answer.messages {
            apps[index].ready.append(
                HeldMessage(
                    message: message, priority: claim.priority,
                    dueSince: askedAt - min(Int64(message.ageInMilliseconds), Self.longestLife) * 1_000_000,
                    leaseEnds: askedAt + Int64(settings.leaseSeconds) * 1_000_000_000,
                    expires: message.expiresInMilliseconds.map {
                        askedAt + min(Int64($0), Self.longestLife) * 1_000_000
                    }))
        }
        for key in answer.withoutPayload {
            results.append(
                MessageResult(
                    key: key, next: .failed, errorCode: "PAYLOAD_MISSING", outcome: VerdictClass.payload.rawValue,
                    detail: "The message has no row in todoke.payloads: there is nothing to send."), now: now)
        }
        if isStopping || apps[index].breaker.allowance(now: now) == 0 {
            release(app: index, now: now)
        } else {
            releaseWhatCannotWait(app: index, now: now)
        }
    }
}
