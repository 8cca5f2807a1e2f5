import Operations
import Queue

/// What was counted for one app.
struct AppMetrics {
    let name: String
    var claimed = 0
    var posted = 0
    /// Answers by HTTP status, from 0 to 599, so that counting one is one addition.
    private(set) var answers = [Int](repeating: 0, count: 600)
    /// Posts without an answer: those that never left, and those of which nobody knows.
    private(set) var notIssued = 0
    private(set) var unknown = 0
    var latency = Histogram.latency(milliseconds: [
        1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
    ])

    private(set) var sent = 0
    private(set) var failed = LabelledCounter()
    private(set) var retried = LabelledCounter()
    private(set) var returned = 0
    var expired = 0
    var cancelled = 0
    /// For how long the oldest message that may be claimed has been due, when it was last looked at; nil: nothing is due.
    var oldestDueSeconds: Double?

    init(name: String) { self.name = name }

    mutating func count(_ ending: TransferOutcome.Ending) {
        switch ending {
        case .answered(_, let status): answers[answers.indices.contains(status) ? status : 0] &+= 1
        case .notIssued: notIssued += 1
        case .unknown: unknown += 1
        }
    }

    /// A result that the database has.
    mutating func count(_ result: MessageResult, by number: Int = 1) {
        switch result.next {
        case .sent: sent &+= number
        case .failed: failed.add(number, for: result.errorCode ?? "none")
        case .expired: expired += number
        case .pending(_, let isAttemptSpent):
            if isAttemptSpent { retried.add(number, for: result.errorCode ?? "none") } else { returned += number }
        }
    }
}
