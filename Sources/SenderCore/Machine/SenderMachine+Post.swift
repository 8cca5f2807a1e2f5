import Delivery
import Operations
import Queue

/// Posting what is ready, within what streams, rates and breakers allow, and recording what came of it.
extension SenderMachine {
    /// Posts of one app before the next app has its turn.
    private static let turn = 8

    mutating func post(now: Int64) {
        guard !isStopping, canRecord else { return }
        for index in apps.indices where apps[index].ready.hasUrgent {
            while apps[index].ready.hasUrgent, slots.inFlight < capacity, postOne(app: index, now: now) {}
        }
        guard !rightOfWay.isGiven(now: now) else { return }
        let usable = usualCapacity
        var isGoing = slots.inFlight < usable
        while isGoing {
            isGoing = false
            for index in apps.indices {
                var posted = 0
                while posted < Self.turn, slots.inFlight < usable, postOne(app: index, now: now) { posted += 1 }
                if posted == Self.turn { isGoing = true }
            }
        }
    }

    /// Streams for messages that are not urgent.
    ///
    /// One in a hundred is kept free, so that an urgent message is posted though all others are taken. Those become free by
    /// the hundred each second, so few are enough.
    var usualCapacity: Int { capacity < 20 ? capacity : capacity - max(1, capacity / 100) }

    /// Posts the app's next message, or does away with it; false when there is none that may go now.
    private mutating func postOne(app index: Int, now: Int64) -> Bool {
        guard let held = apps[index].ready.first, let info = apps[index].info, slots.hasFree else { return false }
        if let expires = held.expires, expires <= now {
            _ = apps[index].ready.popFirst()
            results.append(held.result(.expired), now: now)
            return true
        }
        guard held.leaseEnds - now > settings.requestTimeout else {
            _ = apps[index].ready.popFirst()
            release(held, now: now)
            return true
        }
        let credential = apps[index].credential
        guard apps[index].mayPost(now: now), tokens[credential].isUsable(now: now),
            apps[index].rate.take(isUrgent: held.isUrgent, now: now)
        else { return false }
        _ = apps[index].ready.popFirst()
        let entry = SlotTable.Entry(
            held: held, app: index, postedAt: now, tokenGeneration: tokens[credential].generation)
        guard let slot = slots.occupy(entry) else {
            apps[index].ready.prepend(held)
            return false
        }
        apps[index].inFlight += 1
        actions.append(
            .post(
                PostOrder(
                    slot: slot, projectID: info.projectID, credential: credential, message: held.message,
                    secondsLeft: held.expires.map { Int(($0 - now) / 1_000_000_000) })))
        return true
    }

    /// Gives a claimed message back as it was: due at once for whoever can post it.
    mutating func release(_ held: HeldMessage, now: Int64) {
        floors.forget(now: now)
        results.append(held.result(.pending(delayMilliseconds: nil, isAttemptSpent: false)), now: now)
    }

    /// Gives back everything of the app that is not on a stream.
    mutating func release(app index: Int, now: Int64) {
        for held in apps[index].ready.removeAll() { release(held, now: now) }
    }

    /// Puts a message that came back from its stream in front, unless its app posts nothing now.
    mutating func putBack(_ held: HeldMessage, app index: Int, now: Int64) {
        guard !isStopping, apps[index].breaker.allowance(now: now) > 0 else { return release(held, now: now) }
        apps[index].ready.prepend(held)
        releaseWhatCannotWait(app: index, now: now)
    }

    /// Gives back what waited so long for a stream, a token or its turn that a post could outlast the lease.
    mutating func releaseWhatWaitedTooLong(now: Int64) {
        let latest = now + settings.requestTimeout
        for index in apps.indices where apps[index].ready.earliestLeaseEnds <= latest {
            for held in apps[index].ready.removeAll(where: { $0.leaseEnds <= latest }) { release(held, now: now) }
        }
    }

    /// While the app is held, keeps only what there is time for afterwards, and nothing if that is long.
    mutating func releaseWhatCannotWait(app index: Int, now: Int64) {
        let until = apps[index].holdUntil
        guard until > now else { return }
        let isShort = until - now <= Int64(settings.leaseSeconds) * 1_000_000_000 / 4
        let latest = until + settings.requestTimeout
        for held in apps[index].ready.removeAll(where: { !isShort || $0.leaseEnds <= latest }) {
            release(held, now: now)
        }
    }

    /// While the database refuses results nothing is posted: it would be posted again once its lease has ended.
    var canRecord: Bool { failingSince[.record] == nil && failingSince[.verify] == nil }

    /// Results go out by count, by age, or as soon as nothing else can join them.
    mutating func record(now: Int64) {
        guard isDatabaseReady, isStopping || !rightOfWay.isGiven(now: now) else { return }
        let isDue =
            results.waiting.count >= settings.recordBatch || now >= results.oldest + settings.recordDelay || held == 0
            || isStopping
        let next = results.next(isDue: isDue, now: now)
        for record in next.records { actions.append(.record(record)) }
        if let record = next.verify { actions.append(.verify(record)) }
    }
}
