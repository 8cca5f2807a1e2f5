import Delivery

/// What the sender did, for its last line in the log.
struct Tally {
    private var sent = 0
    private var notSent = 0

    var isEmpty: Bool { sent == 0 && notSent == 0 }

    mutating func count(_ event: SenderEvent) {
        guard case .transferFinished(_, let outcome) = event else { return }
        if case .answered(let verdict, _) = outcome.ending, verdict.kind == .sent {
            sent += 1
        } else {
            notSent += 1
        }
    }

    func fields(refused: Int, duplicateRisk: Int) -> KeyValuePairs<String, String> {
        [
            "sent": "\(sent)", "not_sent": "\(notSent)", "duplicate_risk": "\(duplicateRisk)",
            "refused_results": "\(refused)",
        ]
    }
}
