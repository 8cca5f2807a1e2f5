import Curl
import Operations
import Reactor

/// Gets access tokens for one of the sender's credentials, one request at a time.
///
/// Each has a connection of its own: a token endpoint that hangs holds up nobody else's tokens.
final class TokenFetcher {
    private(set) var credential: Credential
    /// Which of the sender's credentials this is.
    private let index: Int
    /// Goes before the project that the key file names.
    private let quotaProject: String?
    private let driver: CurlDriver
    private let transfer: Transfer
    private let options: TransferOptions
    private let events: EventQueue
    private let wallClock: () -> Int
    /// The server asked not to be asked before; monotonic ns.
    private var notBefore: Int64 = 0
    private var isWaiting = false
    /// Told of a new token, and of the project that requests are charged to, before the machine is.
    var received: (_ token: String, _ quotaProject: String?) throws(CurlError) -> Void = { _, _ in }

    init(
        credential: Credential, index: Int, quotaProject: String? = nil, reactor: Reactor, events: EventQueue,
        options: TransferOptions, wallClock: @escaping () -> Int
    ) throws(CurlError) {
        self.credential = credential
        self.index = index
        self.quotaProject = quotaProject
        self.events = events
        self.options = options
        self.wallClock = wallClock
        driver = try CurlDriver(reactor: reactor, streams: 1)
        transfer = try Transfer()
        driver.finished = { [unowned self] transfer, code in take(judge(transfer, code)) }
    }

    /// Asks now, or when the `Retry-After` of the last answer has passed; what is under way is given up.
    func fetch() { fetch(now: Reactor.now) }

    /// Takes another key in the place of the one so far; the machine then asks for a token of it.
    ///
    /// What was asked with the old key is given up, and so is the wait that it was told.
    func replace(by new: Credential) {
        cancel()
        notBefore = 0
        credential = new
        events.append(.credentialReplaced(index))
    }

    func turn(now: Int64) {
        if isWaiting && now >= notBefore { fetch(now: now) }
        driver.turn(now: now)
    }

    var deadline: Int64? { [isWaiting ? notBefore : nil, driver.deadline].compactMap(\.self).min() }

    private func fetch(now: Int64) {
        cancel()
        guard now >= notBefore else {
            isWaiting = true
            return
        }
        do {
            try start()
        } catch {
            events.append(.tokenFailed(credential: index, error))
        }
    }

    private func cancel() {
        isWaiting = false
        driver.cancel(transfer)
    }

    private func start() throws(Failure) {
        let request = try credential.tokenRequest(now: wallClock())
        do {
            try transfer.configure(options.settings(for: request))
            transfer.setBody(request.body)
            transfer.maximumIssues = 3
            try driver.multi.add(transfer)
        } catch {
            throw Failure(
                .configuration, "\(credential.endpointName) cannot be used: \(error)",
                remedy: credential.endpointRemedy)
        }
    }

    private func judge(_ transfer: Transfer, _ code: CurlCode) -> TokenAnswer {
        guard transfer.status >= 200 else {
            return .failure(TransportFault.tokenFault(code, of: credential, detail: transfer.errorText), wait: nil)
        }
        if case .metadataServer(let server) = credential, !server.isAnswer(of: transfer) {
            return .failure(server.impostor, wait: nil)
        }
        return TokenAnswer.judge(
            TokenReply(
                status: transfer.status, body: transfer.response, retryAfter: transfer.retryAfter,
                date: transfer.date),
            of: credential, now: wallClock())
    }

    private func take(_ answer: TokenAnswer) {
        switch answer {
        case .failure(let failure, let wait):
            if let wait { notBefore = Reactor.now + Int64(wait) * 1_000_000_000 }
            events.append(.tokenFailed(credential: index, failure))
        case .token(let token, let lifetimeSeconds):
            do {
                try received(token, quotaProject ?? credential.quotaProject)
            } catch {
                let failure = Failure(
                    .configuration, "an access token cannot be used: \(error)", remedy: credential.endpointRemedy)
                events.append(.tokenFailed(credential: index, failure))
                return
            }
            events.append(.tokenReady(credential: index, lifetime: Int64(lifetimeSeconds) * 1_000_000_000))
        }
    }
}
