import Delivery
import Operations
import Queue

/// Posting what is ready and judging what came back.
extension SenderMachine {
    mutating func post(now: Int64) {
        guard !isStopping, canRecord else { return }
        var isGoing = true
        while hasStream && isGoing {
            isGoing = false
            for index in apps.indices
            where hasStream && apps[index].mayPost(now: now) && tokens[apps[index].credential].isUsable(now: now) {
                if postOne(app: index, now: now) { isGoing = true }
            }
        }
    }

    private var hasStream: Bool { slots.hasFree && slots.inFlight < capacity }

    /// Posts the app's next message; false when there is none that may go now.
    private mutating func postOne(app index: Int, now: Int64) -> Bool {
        guard let info = apps[index].info else { return false }
        guard !apps[index].ready.isEmpty, apps[index].bucket.take(1, now: now) == 1 else { return false }
        guard let held = apps[index].ready.popFirst() else { return false }
        if let expires = held.expires, expires <= now {
            results.append(MessageResult(key: held.message.key, next: .expired, outcome: nil), now: now)
            return true
        }
        guard held.leaseEnds - now > settings.requestTimeout else {
            release(held, now: now)
            return true
        }
        let secondsLeft = held.expires.map { Int(($0 - now) / 1_000_000_000) }
        let credential = apps[index].credential
        let entry = SlotTable.Entry(held: held, app: index, tokenGeneration: tokens[credential].generation)
        guard let slot = slots.occupy(entry) else {
            apps[index].ready.prepend(held)
            return false
        }
        apps[index].inFlight += 1
        actions.append(
            .post(
                PostOrder(
                    slot: slot, projectID: info.projectID, credential: credential, message: held.message,
                    secondsLeft: secondsLeft,
                    maximumIssues: held.message.isAtMostOnce ? 1 : Self.maximumIssues)))
        return true
    }

    /// libcurl resends by itself on a connection that died; more often than this it is no accident any more.
    private static var maximumIssues: Int { 6 }

    mutating func transferFinished(slot: Int, _ outcome: TransferOutcome, now: Int64) {
        guard let entry = slots.vacate(slot) else { return }
        apps[entry.app].inFlight -= 1
        if outcome.issues > 1 { countDuplicateRisk(outcome.issues - 1) }
        switch outcome.ending {
        case .answered(let verdict, let httpStatus):
            apps[entry.app].unansweredInARow = 0
            answered(entry, verdict, httpStatus: httpStatus, skew: outcome.clockSkewSeconds, now: now)
            if outcome.isHTTP1 { openBreaker(app: entry.app, Self.onlyHTTP1, now: now) }
        case .notIssued(let failure, let isConnectFault):
            if isConnectFault { openBreaker(app: entry.app, failure, now: now) }
            requeue(entry, now: now)
        case .unknown(let reason):
            unknown(entry, reason: reason, now: now)
        }
    }

    private static var onlyHTTP1: Failure {
        Failure(
            .configuration, "FCM's endpoint answers over HTTP/1.1 only",
            remedy: "check --endpoint and the proxies on the way: they must let HTTP/2 through")
    }

    private mutating func answered(
        _ entry: SlotTable.Entry, _ verdict: Verdict, httpStatus: Int, skew: Int?, now: Int64
    ) {
        let held = entry.held
        let key = held.message.key
        switch verdict.kind {
        case .sent:
            hadSuccess = true
            sentSinceVitals += 1
            apps[entry.app].breaker.close()
            results.append(
                MessageResult(
                    key: key, next: .sent, httpStatus: httpStatus, providerMessageID: verdict.providerMessageID),
                now: now)
        case .authConfig:
            refused(entry, verdict, httpStatus: httpStatus, skew: skew, now: now)
        case .tokenInvalid, .permanent, .payload:
            apps[entry.app].breaker.close()
            hadSuccess = true
            append(.failed, entry, verdict, httpStatus: httpStatus, now: now)
        case .retry, .retryAfter, .unknown:
            if let seconds = verdict.retryAfterSeconds {
                let until = now + Int64(seconds) * 1_000_000_000
                if until > apps[entry.app].holdUntil {
                    apps[entry.app].holdUntil = until
                    log(.warning, "provider asks to wait", ["app": apps[entry.app].name, "seconds": "\(seconds)"])
                }
                release(app: entry.app, now: now)
            }
            guard held.message.attempts + 1 < settings.maximumAttempts else {
                append(.failed, entry, verdict, httpStatus: httpStatus, now: now)
                return
            }
            let delay = settings.retry.delay(
                attempt: held.message.attempts + 1, wait: verdict.retryAfterSeconds, using: &random)
            append(
                .pending(delayMilliseconds: delay, isAttemptSpent: true), entry, verdict, httpStatus: httpStatus,
                now: now)
        }
    }

    private mutating func append(
        _ next: MessageResult.Next, _ entry: SlotTable.Entry, _ verdict: Verdict, httpStatus: Int, now: Int64
    ) {
        results.append(
            MessageResult(
                key: entry.held.message.key, next: next, httpStatus: httpStatus, errorCode: verdict.code,
                outcome: verdict.kind.rawValue, detail: verdict.hint), now: now)
    }

    /// The provider refuses us, not the message: a stale token is replaced once, everything else opens the breaker.
    private mutating func refused(
        _ entry: SlotTable.Entry, _ verdict: Verdict, httpStatus: Int, skew: Int?, now: Int64
    ) {
        if verdict.asksForNewCredentials && entry.held.refusedTokens == 0 {
            tokens[apps[entry.app].credential].refused(generation: entry.tokenGeneration, now: now)
            var held = entry.held
            held.refusedTokens += 1
            apps[entry.app].ready.prepend(held)
            return
        }
        let clock = skew.map { ", and this machine's clock is \(abs($0)) s \($0 > 0 ? "ahead of" : "behind") FCM's" }
        let failure = Failure(
            .configuration,
            "FCM refuses app \"\(apps[entry.app].name)\": HTTP \(httpStatus) \(verdict.code)\(clock ?? "")",
            remedy: clock == nil ? verdict.hint : "set this machine's clock right (NTP)")
        append(
            .pending(delayMilliseconds: nil, isAttemptSpent: false), entry, verdict, httpStatus: httpStatus, now: now)
        openBreaker(app: entry.app, failure, now: now)
    }

    /// Nobody knows whether the request was processed: resent at once, once; then it goes back and waits its turn.
    private mutating func unknown(_ entry: SlotTable.Entry, reason: String, now: Int64) {
        var held = entry.held
        if held.message.isAtMostOnce {
            results.append(
                MessageResult(
                    key: held.message.key, next: .failed, errorCode: "OUTCOME_UNKNOWN", outcome: "unknown",
                    detail: reason),
                now: now)
            return
        }
        countDuplicateRisk(1)
        held.unknownOutcomes += 1
        apps[entry.app].unansweredInARow += 1
        // One lost connection takes the answers of all its streams with it; more than that is an outage.
        if apps[entry.app].unansweredInARow > max(20, 2 * settings.slots) {
            apps[entry.app].unansweredInARow = 0
            let fault = Failure(
                .unavailable, "FCM takes requests and breaks the connection before it answers: \(reason)",
                remedy: "check the network and proxies on the way")
            openBreaker(app: entry.app, fault, now: now)
        }
        if held.unknownOutcomes == 1 && !isStopping && apps[entry.app].breaker.allowance(now: now) > 0 {
            apps[entry.app].ready.prepend(held)
            return
        }
        let delay = settings.retry.delay(attempt: 1, using: &random)
        results.append(
            MessageResult(
                key: held.message.key, next: .pending(delayMilliseconds: delay, isAttemptSpent: false),
                errorCode: "OUTCOME_UNKNOWN", outcome: "unknown", detail: reason), now: now)
    }

    /// The request never left: it goes again at once, unless the app is still or it keeps happening.
    private mutating func requeue(_ entry: SlotTable.Entry, now: Int64) {
        var held = entry.held
        held.requeues += 1
        if isStopping || apps[entry.app].breaker.allowance(now: now) == 0 || held.requeues > Consequence.requeues {
            release(held, now: now)
        } else {
            apps[entry.app].ready.prepend(held)
        }
    }

    /// Gives a claimed message back as it was: due at once for whoever can post it.
    mutating func release(_ held: HeldMessage, now: Int64) {
        results.append(
            MessageResult(key: held.message.key, next: .pending(delayMilliseconds: nil, isAttemptSpent: false)),
            now: now)
    }

    /// Gives back everything of the app that is not on a stream.
    mutating func release(app index: Int, now: Int64) {
        for held in apps[index].ready.removeAll() { release(held, now: now) }
    }

    mutating func openBreaker(app index: Int, _ failure: Failure, now: Int64) {
        let wasClosed = apps[index].breaker.fault == nil
        apps[index].breaker.open(fault: failure, now: now)
        if wasClosed {
            apps[index].openedAt = now
        }
        // A drain that never worked ends with this failure as its one line.
        if wasClosed && (hadSuccess || !settings.drains) {
            log(.error, "breaker open", ["app": apps[index].name, "why": failure.what, "remedy": failure.remedy])
        }
        release(app: index, now: now)
    }

    /// While the database refuses results nothing is posted: it would be posted again once its lease has ended.
    var canRecord: Bool { failingSince[.record] == nil && failingSince[.verify] == nil }

    /// Results go out by count, by age, or as soon as nothing else can join them.
    mutating func record(now: Int64) {
        guard isDatabaseReady else { return }
        let isDue =
            results.waiting.count >= settings.recordBatch || now >= results.oldest + settings.recordDelay || held == 0
            || isStopping
        let next = results.next(isDue: isDue, now: now)
        for record in next.records { actions.append(.record(record)) }
        if let record = next.verify { actions.append(.verify(record)) }
    }
}
