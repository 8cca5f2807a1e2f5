import Delivery

/// A case with its verdict and with what the sender does about it.
struct Explanation: Sendable {
    let given: AnswerCase
    let verdict: Verdict
    let consequence: Consequence

    init(_ given: AnswerCase) {
        self.given = given
        verdict = given.verdict
        consequence = Consequence(of: verdict, attempt: given.attempt)
    }

    /// Seconds that the answer itself asks to wait; nil when it does not, or not readably.
    var askedWait: Int? { given.answer?.secondsToWait(now: given.now) }

    /// Seconds until the message is due again, both ends included; nil where it stays due, and for a final state.
    var dueIn: ClosedRange<Int>? { consequence.delay.map { $0.lowerBound / 1_000...$0.upperBound / 1_000 } }
}
