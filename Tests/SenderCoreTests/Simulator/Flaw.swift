import Testing

/// A mistake put into the world on purpose, to see that the checks find it.
enum Flaw: String, CaseIterable, CustomTestStringConvertible {
    // The database's statements.
    case resultsAreNotFenced, claimsDoNotLock, rescuesIgnoreLeases, everybodyIsAlone
    // The shell around the machine.
    case leasesSeemLonger, resultsAreDroppedWithTheDatabase, ordersArePostedTwice, unknownOutcomesSeemRefused
    case secondIssuesAreHidden, retryAfterIsHidden, answersGetLost, claimsAreAnsweredTwice
    // The provider's connections.
    case everythingIsIssuedAgain

    var testDescription: String { rawValue }

    /// The promises that it breaks, any of which may be seen first.
    var breaks: Set<Ledger.Rule> {
        switch self {
        case .resultsAreNotFenced: [.fencing]
        case .claimsDoNotLock: [.duplicatesNeedUnknownOutcomes, .leases, .fencing, .atMostOnce]
        case .rescuesIgnoreLeases: [.leases]
        case .everybodyIsAlone: [.rate]
        case .leasesSeemLonger: [.leases]
        case .resultsAreDroppedWithTheDatabase: [.resultsAreKept]
        case .ordersArePostedTwice: [.duplicatesNeedUnknownOutcomes, .atMostOnce, .rate]
        case .unknownOutcomesSeemRefused: [.attemptsAreForAnswers]
        case .secondIssuesAreHidden: [.duplicatesAreCounted]
        case .retryAfterIsHidden: [.holds]
        case .answersGetLost: [.leases]
        case .claimsAreAnsweredTwice: [.duplicatesNeedUnknownOutcomes, .atMostOnce, .leases, .memory]
        case .everythingIsIssuedAgain: [.atMostOnce]
        }
    }
}
