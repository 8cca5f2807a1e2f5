import Delivery
import Operations
import Queue

/// Judging how posts ended.
extension SenderMachine {
    mutating func transferFinished(slot: Int, _ outcome: TransferOutcome, now: Int64) {
        guard let entry = slots.vacate(slot) else { return }
        apps[entry.app].inFlight -= 1
        if outcome.issues > 1 { countDuplicateRisk(outcome.issues - 1) }
        switch outcome.ending {
        case .answered(let verdict, let httpStatus):
            apps[entry.app].unansweredInARow = 0
            apps[entry.app].notIssuedInARow = 0
            answered(entry, verdict, httpStatus: httpStatus, outcome, now: now)
            if outcome.isHTTP1 { openBreaker(app: entry.app, Self.onlyHTTP1, postedAt: entry.postedAt, now: now) }
        case .notIssued(let failure, let isConnectFault):
            apps[entry.app].notIssuedInARow += 1
            // One GOAWAY turns away what all streams carry; more than that in a row is no accident, nor is a probe that
            // does not leave.
            if isConnectFault || apps[entry.app].breaker.fault != nil || apps[entry.app].notIssuedInARow > longestRow {
                apps[entry.app].notIssuedInARow = 0
                openBreaker(app: entry.app, failure, postedAt: entry.postedAt, now: now)
            }
            requeue(entry, now: now)
        case .unknown(let reason):
            apps[entry.app].notIssuedInARow = 0
            countUnanswered(entry, reason: reason, now: now)
            unknown(entry, reason: reason, now: now)
        }
    }

    /// So many posts in a row without an answer, or that did not leave, are an outage: one lost connection takes the answers
    /// of all its streams with it.
    private var longestRow: Int { max(Self.shortestRow, 2 * settings.slots) }
    private static let shortestRow = 20

    /// Opens the breaker after too many posts without an answer; sooner where each of them is a message that fails.
    private mutating func countUnanswered(_ entry: SlotTable.Entry, reason: String, now: Int64) {
        apps[entry.app].unansweredInARow += 1
        let longest = entry.held.message.isAtMostOnce ? Self.shortestRow : longestRow
        guard apps[entry.app].unansweredInARow > longest || apps[entry.app].breaker.fault != nil else { return }
        apps[entry.app].unansweredInARow = 0
        let fault = Failure(
            .unavailable, "FCM takes requests and breaks the connection before it answers: \(reason)",
            remedy: "check the network and proxies on the way")
        openBreaker(app: entry.app, fault, postedAt: entry.postedAt, now: now)
    }

    private static var onlyHTTP1: Failure {
        Failure(
            .configuration, "FCM's endpoint answers over HTTP/1.1 only",
            remedy: "check --endpoint and the proxies on the way: they must let HTTP/2 through")
    }

    private mutating func answered(
        _ entry: SlotTable.Entry, _ verdict: Verdict, httpStatus: Int, _ outcome: TransferOutcome, now: Int64
    ) {
        if httpStatus < 500 { apps[entry.app].rate.answered() }
        switch verdict.kind {
        case .sent:
            sentSinceVitals += 1
            judged(entry, outcome, now: now)
            let isSecond = entry.held.unknownReason != nil
            results.append(
                MessageResult(
                    key: entry.held.message.key, next: .sent, httpStatus: httpStatus,
                    errorCode: isSecond ? HeldMessage.unknownCode : nil, providerMessageID: verdict.providerMessageID,
                    outcome: isSecond ? HeldMessage.unknownOutcome : nil,
                    detail: isSecond ? entry.held.detail("Sent, and maybe twice.") : nil),
                now: now)
        case .authConfig where verdict.isOfOnePlatform:
            refusedForPlatform(entry, verdict, httpStatus: httpStatus, now: now)
        case .authConfig:
            refused(entry, verdict, httpStatus: httpStatus, skew: outcome.clockSkewSeconds, now: now)
        case .tokenInvalid, .permanent, .payload:
            judged(entry, outcome, now: now)
            append(.failed, entry, verdict, httpStatus: httpStatus, now: now)
        case .retry, .retryAfter, .unknown:
            slowDown(entry, verdict, httpStatus: httpStatus, now: now)
            retry(entry, verdict, httpStatus: httpStatus, now: now)
        }
    }

    /// The provider works for this app, unless its answer came over a way that is no way to go on.
    private mutating func judged(_ entry: SlotTable.Entry, _ outcome: TransferOutcome, now: Int64) {
        guard !outcome.isHTTP1 else { return }
        hadSuccess = true
        apps[entry.app].judgedAt = now
        apps[entry.app].breaker.close()
    }

    mutating func append(
        _ next: MessageResult.Next, _ entry: SlotTable.Entry, _ verdict: Verdict, httpStatus: Int, now: Int64
    ) {
        results.append(
            MessageResult(
                key: entry.held.message.key, next: next, httpStatus: httpStatus, errorCode: verdict.code,
                outcome: verdict.kind.rawValue, detail: entry.held.detail(verdict.hint),
                tokenDeadSince: verdict.kind == .tokenInvalid ? verdict.deadSince(entry.held.message) : nil), now: now)
    }

    /// Nobody knows whether the request was processed: resent at once, once; then it goes back and waits its turn.
    private mutating func unknown(_ entry: SlotTable.Entry, reason: String, now: Int64) {
        var held = entry.held
        if held.message.isAtMostOnce {
            results.append(
                MessageResult(
                    key: held.message.key, next: .failed, errorCode: HeldMessage.unknownCode,
                    outcome: HeldMessage.unknownOutcome, detail: reason),
                now: now)
            return
        }
        countDuplicateRisk(1)
        held.unknownOutcomes += 1
        if held.unknownOutcomes == 1 && !isStopping && apps[entry.app].breaker.allowance(now: now) > 0 {
            held.unknownReason = reason
            putBack(held, app: entry.app, now: now)
            return
        }
        let delay = settings.retry.delay(attempt: 1, using: &random)
        let isTooOld = isTooOld(entry, after: delay, now: now)
        if !isTooOld { expectReturned(inMilliseconds: delay, now: now) }
        results.append(
            MessageResult(
                key: held.message.key,
                next: isTooOld ? .failed : .pending(delayMilliseconds: delay, isAttemptSpent: false),
                errorCode: HeldMessage.unknownCode, outcome: HeldMessage.unknownOutcome, detail: held.detail(reason)),
            now: now)
    }

    /// The request never left: it goes again at once, unless the app is still or it keeps happening.
    private mutating func requeue(_ entry: SlotTable.Entry, now: Int64) {
        var held = entry.held
        held.requeues += 1
        if held.requeues > Consequence.requeues {
            release(held, now: now)
        } else {
            putBack(held, app: entry.app, now: now)
        }
    }
}

extension Verdict {
    /// Since when the message's token is dead: what APNs says, and at the latest when the message was claimed, since a token
    /// registered between the claim and the answer may be alive again.
    ///
    /// Microseconds since 2000.
    fileprivate func deadSince(_ message: ClaimedMessage) -> Int {
        let (sinceEpoch, isTooLarge) = (tokenInvalidSince ?? .max).subtractingReportingOverflow(Self.epoch)
        let (since, overflow) = sinceEpoch.multipliedReportingOverflow(by: 1_000)
        return isTooLarge || overflow ? message.claimedAt : min(since, message.claimedAt)
    }

    /// 2000-01-01, in milliseconds since 1970.
    private static var epoch: Int { 946_684_800_000 }
}
