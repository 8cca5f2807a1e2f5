import Delivery
import Operations
import Queue

@testable import SenderCore

/// Events and actions as a number for the hash and a few words for people.
extension SenderEvent {
    var number: Int {
        switch self {
        case .databaseReady: 1
        case .databaseLost: 2
        case .work(_, let due, _): 3 + 1_000 * due.count
        case .claimed(_, let answer, _): 4 + 1_000 * answer.taken
        case .unfinished(let isUnfinished): isUnfinished ? 5 : 6
        case .recorded(let matched): 7 + 1_000 * matched
        case .verified(let matched): 8 + 1_000 * matched
        case .rescued(let count): 9 + 1_000 * count
        case .heartbeatDone: 10
        case .statementFailed: 11
        case .tokenReady: 12
        case .tokenFailed: 13
        case .transferFinished(let slot, _): 14 + 1_000 * slot
        case .stopRequested: 15
        default: 16
        }
    }

    var brief: String {
        switch self {
        case .work(let apps, let due, let next):
            let live = apps.first?.liveSenders ?? 0
            let places = due.map { "\($0.app)/\($0.priority)/\($0.day)" }
            return "work: due at \(places), next in \(next ?? -1) ms, \(live) senders"
        case .claimed(let claim, let answer, _):
            let keys = answer.messages.map { "\($0.key.id)#\($0.key.claimNumber)" }
            return "claimed app \(claim.app), priority \(claim.priority): \(keys) of \(answer.taken)"
        case .databaseLost: return "databaseLost"
        case .statementFailed(let kind, _): return "statementFailed \(kind)"
        case .tokenFailed(let credential, _): return "tokenFailed \(credential)"
        case .transferFinished(let slot, let outcome):
            let again = outcome.issues == 1 ? "" : ", \(outcome.issues) issues"
            switch outcome.ending {
            case .answered(let verdict, let status):
                let wait = verdict.retryAfterSeconds.map { ", wait \($0) s" } ?? ""
                return "slot \(slot): \(status) \(verdict.kind.rawValue) \(verdict.code)\(wait)\(again)"
            case .notIssued(_, let isConnectFault):
                return "slot \(slot): not issued\(isConnectFault ? ", no connection" : "")"
            case .unknown(let reason): return "slot \(slot): unknown (\(reason))\(again)"
            }
        default: return "\(self)"
        }
    }
}

extension SenderAction {
    var number: Int {
        switch self {
        case .askWork: 1
        case .askUrgent: 2
        case .claim: 3
        case .askUnfinished: 4
        case .record: 5
        case .verify: 6
        case .rescue: 7
        case .keepHouse: 8
        case .heartbeat: 9
        case .refreshToken: 10
        case .post: 11
        case .log: 12
        case .finish: 13
        }
    }

    var detail: Int {
        switch self {
        case .claim(let claim): claim.limit * 1_000 + claim.app * 10 + claim.priority
        case .record(let record), .verify(let record): record.results.reduce(0) { $0 &* 31 &+ $1.key.id }
        case .post(let order): order.message.key.id * 1_000 + order.slot
        default: 0
        }
    }

    var brief: String {
        switch self {
        case .claim(let claim):
            return "claims \(claim.limit) of app \(claim.app), priority \(claim.priority), \(claim.day)"
        case .record(let record): return "records \(record.results.map(\.brief))"
        case .verify(let record): return "verifies \(record.results.map(\.brief))"
        case .post(let order):
            return "posts \(order.message.key.id)#\(order.message.key.claimNumber) on slot \(order.slot)"
        case .log(let entry):
            let fields = entry.fields.map { "\($0.key)=\($0.value)" }
            return "logs \(entry.message) \(fields.joined(separator: " "))"
        case .finish(let exit, let failure): return "ends with \(exit): \(failure?.what ?? "")"
        default: return "\(self)"
        }
    }
}

extension MessageResult {
    var brief: String {
        let next =
            switch self.next {
            case .pending(let delay, let isSpent): "pending+\(delay ?? 0)ms\(isSpent ? " spent" : "")"
            default: "\(self.next)"
            }
        return "\(key.id)#\(key.claimNumber) \(next)"
    }
}
