import Delivery

@testable import SenderCore

/// FCM and its token endpoint: what they think of tokens and how much they take.
struct ProviderModel {
    /// By credential: tokens of earlier epochs are refused.
    var tokenEpochs: [Int]
    /// By credential: no token is given.
    var refusesTokens: [Bool]
    /// By credential: everything is refused, whatever the token.
    var refusesUs: [Bool]
    var speaksOldProtocol = false
    let quota: Int?
    /// By app, the second and how much was taken in it.
    private var taken: [Int: (second: Int64, count: Int)] = [:]

    init(plan: SimulationPlan) {
        let credentials = 1 + (plan.settings.apps.map(\.credential).max() ?? 0)
        tokenEpochs = Array(repeating: 0, count: credentials)
        refusesTokens = Array(repeating: false, count: credentials)
        refusesUs = Array(repeating: false, count: credentials)
        quota = plan.quota
    }

    mutating func heal() {
        speaksOldProtocol = false
        for credential in tokenEpochs.indices {
            refusesTokens[credential] = false
            refusesUs[credential] = false
        }
    }

    /// What comes of a request that arrives and is understood.
    mutating func judge(_ order: PostOrder, token: AccessToken?, message: QueuedMessage, now: Int64)
        -> ProviderAnswers.Answer
    {
        guard let token, token.epoch == tokenEpochs[order.credential], now < token.expiresAt else {
            return ProviderAnswers.expiredToken
        }
        if refusesUs[order.credential] { return ProviderAnswers.forbidden }
        if let quota {
            let second = now / VirtualClock.second
            var window = taken[message.app] ?? (second, 0)
            if window.second != second { window = (second, 0) }
            window.count += 1
            taken[message.app] = window
            if window.count > quota { return ProviderAnswers.quota[1] }
        }
        switch message.nature {
        case .good: return ProviderAnswers.sent
        case .deadToken: return ProviderAnswers.deadToken
        case .badPayload: return ProviderAnswers.badPayload
        case .wrongSender: return ProviderAnswers.wrongSender
        }
    }
}
