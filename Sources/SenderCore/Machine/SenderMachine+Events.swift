import Delivery
import Operations
import Queue

/// What each event changes.
extension SenderMachine {
    /// Takes note of what happened; what follows from it comes out of ``advance(now:)``.
    package mutating func receive(_ event: SenderEvent, now: Int64) {
        switch event {
        case .databaseReady:
            isDatabaseReady = true
            // After an outage longer than a lease every sender comes back with results to record: they go first. One that
            // has just started does not know whether there was an outage.
            nextRescueAt = max(nextRescueAt, now + Self.rescueGrace)
            hadDatabase = true
            databaseFault = nil
            workAskedFor = []
            underWay = [:]
            nextWorkAt = now
            results.sendAgain()
        case .databaseLost(let failure):
            isDatabaseReady = false
            rightOfWay.end(now: now)
            if databaseFault == nil { databaseLostAt = now }
            databaseFault = failure
            if workAskedFor.contains(.housekeeping) { keepHouseSoon(now: now) }
            workAskedFor = []
            underWay = [:]
            due = []
            floors.forget(now: now)
            // A drain that never worked ends with this failure as its one line.
            if hadDatabase || !settings.drains {
                log(.warning, "no database", ["why": failure.what, "remedy": failure.remedy])
            }
        case .work(let found, let due, let next):
            worked(.work)
            learnWork(apps: found, due: due, nextInMilliseconds: next, now: now)
        case .claimed(let claim, let answer, let askedAt):
            worked(claim.isUrgent ? .urgent : .claim)
            if claim.isUrgent { rightOfWay.end(now: now) }
            take(answer, of: claim, askedAt: askedAt, now: now)
        case .unfinished(let isUnfinished):
            worked(.unfinished)
            if !isUnfinished && mayDrainNow { finish(.ok, failure: nil) }
        case .recorded(let matched):
            worked(.record)
            results.recorded(matched: matched)
        case .registryNote(let note):
            // The app may be paused by now.
            nextWorkAt = now
            log(.error, "dead tokens", ["why": note, "remedy": "see todoke devices sweep"])
        case .verified(let matched):
            worked(.verify)
            let (refused, maybeSent) = results.verified(matched: matched)
            if refused > 0 {
                refusedResults += refused
                countDuplicateRisk(maybeSent)
                log(
                    .warning, "results refused: the lease was gone",
                    ["messages": "\(refused)", "sent": "\(maybeSent)"])
            }
        case .rescued(let count):
            worked(.rescue)
            rescued(count, now: now)
        case .heartbeatDone:
            worked(.heartbeat)
        case .registeredAgain:
            log(.warning, "this sender's row in todoke.senders was gone: others may have sent beyond the shared rate")
        case .statementFailed(let kind, let failure):
            statementFailed(kind, failure, now: now)
        case .tokenReady(let credential, let lifetime):
            guard tokens.indices.contains(credential) else { return }
            tokens[credential].isReady(lifetime: lifetime, now: now)
            for index in apps.indices where apps[index].credential == credential {
                if apps[index].isWaitingForToken { apps[index].breaker.close() }
                apps[index].isWaitingForToken = false
            }
        case .tokenFailed(let credential, let failure):
            tokenFailed(credential, failure, now: now)
        case .credentialReplaced(let credential):
            guard tokens.indices.contains(credential) else { return }
            tokens[credential].replaced(now: now)
            for index in apps.indices where apps[index].credential == credential && apps[index].breaker.fault != nil {
                apps[index].isWaitingForToken = true
            }
        case .capacity(let streams):
            capacity = min(max(0, streams), settings.slots)
        case .woken(let name):
            woken(app: name, now: now)
        case .listening(let isListening):
            listening(isListening, now: now)
        case .urgent(let found):
            worked(.urgent)
            learnUrgent(found, now: now)
        case .houseKept(let expired):
            worked(.housekeeping)
            if expired > 0 { log(.info, "expired messages that nobody could claim", ["messages": "\(expired)"]) }
            if expired >= Housekeeping.limit { nextHousekeepingAt = now }
        case .transferFinished(let slot, let outcome):
            transferFinished(slot: slot, outcome, now: now)
        case .stopRequested:
            stopRequested(now: now)
        }
    }

    private mutating func worked(_ kind: StatementKind) {
        workAskedFor.remove(kind)
        underWay[kind] = nil
        failingSince[kind] = nil
    }

    private mutating func statementFailed(_ kind: StatementKind, _ failure: Failure, now: Int64) {
        workAskedFor.remove(kind)
        underWay[kind] = nil
        floors.forget(now: now)
        if kind == .record || kind == .verify, !refused(failure, now: now) { return }
        log(.error, "statement failed", ["statement": "\(kind)", "why": failure.what])
        let since = failingSince[kind] ?? now
        failingSince[kind] = since
        switch kind {
        case .claim, .work, .unfinished:
            due = []
            // What is due is not known any more: a drain has to ask again before it may end.
            claimedSinceWork = true
            nextWorkAt = now + settings.pollInterval
        case .urgent:
            rightOfWay.end(now: now)
            due.removeAll(where: \.isUrgent)
            claimedSinceWork = true
            nextWorkAt = max(min(nextWorkAt, now + settings.pollInterval), now)
        case .housekeeping:
            keepHouseSoon(now: now)
        case .record, .verify, .rescue, .heartbeat:
            break
        }
        guard settings.drains, kind != .heartbeat, kind != .housekeeping else { return }
        if !knowsWork {
            finish(failure.exit, failure: failure)
        } else if now - since >= settings.startupTimeout {
            stop(because: failure, now: now)
        }
    }
}
