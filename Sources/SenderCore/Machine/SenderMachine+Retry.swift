import Delivery
import Operations
import Queue

/// What comes again later, and what slows the app down meanwhile.
extension SenderMachine {
    /// A 429 halves the rate, many 5xx do, and a time that the provider asks for holds the whole app.
    mutating func slowDown(_ entry: SlotTable.Entry, _ verdict: Verdict, httpStatus: Int, now: Int64) {
        let index = entry.app
        if httpStatus == 429 {
            if apps[index].rate.cut(postedAt: entry.postedAt, now: now) { logSlower(app: index, "429", now: now) }
        } else if httpStatus >= 500, apps[index].rate.overloaded(postedAt: entry.postedAt, now: now) {
            logSlower(app: index, "mostly \(httpStatus)", now: now)
        }
        guard let asked = verdict.retryAfterSeconds else { return }
        let seconds = RetryPolicy.honoured(asked)
        let until = now + Int64(seconds) * 1_000_000_000
        if until > apps[index].holdUntil {
            apps[index].holdUntil = until
            apps[index].rate.hold(until: until, now: now)
            log(.warning, "provider asks to wait", ["app": apps[index].name, "seconds": "\(seconds)"])
        }
        releaseWhatCannotWait(app: index, now: now)
    }

    private mutating func logSlower(app index: Int, _ why: String, now: Int64) {
        log(
            .warning, "posting at half the rate",
            ["app": apps[index].name, "why": why, "per_second": "\(Int(apps[index].rate.level.rounded()))"])
    }

    mutating func retry(_ entry: SlotTable.Entry, _ verdict: Verdict, httpStatus: Int, now: Int64) {
        let attempt = entry.held.message.attempts + 1
        let delay = settings.retry.delay(attempt: attempt, wait: verdict.retryAfterSeconds, using: &random)
        let isSpent = !RetryPolicy.isTooSoon(verdict.retryAfterSeconds)
        guard attempt < settings.maximumAttempts || !isSpent, !isTooOld(entry, after: delay, now: now) else {
            append(.failed, entry, verdict, httpStatus: httpStatus, now: now)
            return
        }
        expectReturned(inMilliseconds: delay, now: now)
        append(
            .pending(delayMilliseconds: delay, isAttemptSpent: isSpent), entry, verdict, httpStatus: httpStatus,
            now: now)
    }

    /// Whether the message would be older than `--max-age` when it is tried again.
    func isTooOld(_ entry: SlotTable.Entry, after delay: Int, now: Int64) -> Bool {
        now + Int64(delay) * 1_000_000 - entry.held.dueSince > settings.maximumAge
    }

    /// The provider refuses us, not the message: a stale token is replaced once, everything else opens the breaker.
    mutating func refused(
        _ entry: SlotTable.Entry, _ verdict: Verdict, httpStatus: Int, skew: Int?, now: Int64
    ) {
        if verdict.asksForNewCredentials && entry.held.refusedTokens == 0 {
            tokens[apps[entry.app].credential].refused(generation: entry.tokenGeneration, now: now)
            var held = entry.held
            held.refusedTokens += 1
            putBack(held, app: entry.app, now: now)
            return
        }
        let clock = skew.map { ", and this machine's clock is \(abs($0)) s \($0 > 0 ? "ahead of" : "behind") FCM's" }
        let failure = Failure(
            .configuration,
            "FCM refuses app \"\(apps[entry.app].name)\": HTTP \(httpStatus) \(verdict.code)\(clock ?? "")",
            remedy: clock == nil ? verdict.hint : "set this machine's clock right (NTP)")
        append(
            .pending(delayMilliseconds: nil, isAttemptSpent: false), entry, verdict, httpStatus: httpStatus, now: now)
        openBreaker(app: entry.app, failure, postedAt: entry.postedAt, now: now)
    }

    /// The credentials of another service, set in the provider's console, are wrong.
    ///
    /// Messages for its devices wait, with the attempt unspent, and all others go on. Where no others do, it is a fault
    /// like any other.
    mutating func refusedForPlatform(_ entry: SlotTable.Entry, _ verdict: Verdict, httpStatus: Int, now: Int64) {
        let index = entry.app
        let range = settings.retry.platformRange
        let delay = Int.random(in: range, using: &random)
        if isTooOld(entry, after: delay, now: now) {
            append(.failed, entry, verdict, httpStatus: httpStatus, now: now)
        } else {
            expectReturned(inMilliseconds: delay, now: now)
            append(
                .pending(delayMilliseconds: delay, isAttemptSpent: false), entry, verdict, httpStatus: httpStatus,
                now: now)
        }
        let failure = Failure(
            .configuration, "FCM refuses messages of app \"\(apps[index].name)\": HTTP \(httpStatus) \(verdict.code)",
            remedy: verdict.hint)
        let isOnly = apps[index].judgedAt.map { now - $0 > Self.platformPatience } ?? true
        if isOnly {
            openBreaker(app: index, failure, postedAt: entry.postedAt, now: now)
        } else if now >= apps[index].nextPlatformLogAt {
            apps[index].nextPlatformLogAt = now + 60_000_000_000
            log(.error, "some messages wait", ["app": apps[index].name, "why": failure.what, "remedy": failure.remedy])
        }
    }

    /// After so long without any other answer the app is taken to have no other messages.
    private static var platformPatience: Int64 { 60_000_000_000 }

    mutating func openBreaker(app index: Int, _ failure: Failure, postedAt: Int64? = nil, now: Int64) {
        let wasClosed = apps[index].breaker.fault == nil
        // Posts that were under way when it opened fail too; they are one and the same trouble.
        if !wasClosed, let postedAt, postedAt < apps[index].openedAt { return release(app: index, now: now) }
        apps[index].breaker.open(fault: failure, now: now)
        if wasClosed { apps[index].openedAt = now }
        // A drain that never worked ends with this failure as its one line.
        if wasClosed && (hadSuccess || !settings.drains) {
            log(.error, "breaker open", ["app": apps[index].name, "why": failure.what, "remedy": failure.remedy])
        }
        release(app: index, now: now)
    }
}
