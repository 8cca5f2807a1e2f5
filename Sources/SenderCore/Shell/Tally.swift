import Delivery

/// How the posts ended, for the sender's last line in the log.
struct Tally {
    private var sent = 0
    /// Answers that were not "sent", those that lead to a retry included.
    private var refused = 0
    /// Posts without an answer; they were sent again or given back.
    private var unanswered = 0

    var isEmpty: Bool { sent + refused + unanswered == 0 }

    mutating func count(_ event: SenderEvent) {
        guard case .transferFinished(_, let outcome) = event else { return }
        if case .answered(let verdict, _) = outcome.ending {
            if verdict.kind == .sent { sent += 1 } else { refused += 1 }
        } else {
            unanswered += 1
        }
    }

    func fields(lostResults: Int, duplicateRisk: Int) -> KeyValuePairs<String, String> {
        [
            "sent": "\(sent)", "refused": "\(refused)", "unanswered": "\(unanswered)",
            "duplicate_risk": "\(duplicateRisk)", "lost_results": "\(lostResults)",
        ]
    }
}
