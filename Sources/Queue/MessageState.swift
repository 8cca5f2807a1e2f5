/// The six states of a message, named as in `todoke.message_state`.
package enum MessageState: String, Sendable, CaseIterable {
    case pending, sending, sent, failed, expired, cancelled

    /// Whether nothing happens to the message any more.
    package var isTerminal: Bool {
        switch self {
        case .pending, .sending: false
        case .sent, .failed, .expired, .cancelled: true
        }
    }
}
