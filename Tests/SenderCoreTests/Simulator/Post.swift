import Delivery

@testable import SenderCore

/// One order on its way: what the provider did with it, and what its sender was told.
final class Post {
    /// What really came of it.
    enum Truth: Equatable {
        case underWay, neverIssued, unknown
        case answered(VerdictClass)
    }

    let number: Int
    let order: PostOrder
    /// Which of the run's senders ordered it.
    let sender: Int
    let orderedAt: Int64
    /// The token it carries, as the shell had it.
    let token: AccessToken?
    var truth = Truth.underWay
    /// How often libcurl put it on a connection.
    var issues = 1
    /// What the provider asked in its answer.
    var secondsToWait: Int?
    /// The sender was told, or will never be.
    var isOver = false
    /// The connection broke before the provider could see the request.
    var isCut = false

    init(number: Int, order: PostOrder, sender: Int, orderedAt: Int64, token: AccessToken?) {
        self.number = number
        self.order = order
        self.sender = sender
        self.orderedAt = orderedAt
        self.token = token
    }
}

/// What the shell puts into the header, and until when the provider takes it.
struct AccessToken {
    let epoch: Int
    let expiresAt: Int64
}
