import Curl
import Operations
import Reactor

/// Asks the token endpoint for access tokens, one request at a time.
final class TokenFetcher {
    private let driver: CurlDriver
    private let transfer: Transfer
    private let account: ServiceAccount
    /// Which of the sender's credentials this is.
    private let credential: Int
    private let options: TransferOptions
    private let events: EventQueue
    private let wallClock: () -> Int
    /// Told of a new token before the machine is.
    var received: (String) throws(CurlError) -> Void = { _ in }

    init(
        account: ServiceAccount, credential: Int, reactor: Reactor, events: EventQueue, options: TransferOptions,
        wallClock: @escaping () -> Int
    ) throws(CurlError) {
        self.account = account
        self.credential = credential
        self.events = events
        self.wallClock = wallClock
        self.options = options
        driver = try CurlDriver(reactor: reactor, streams: 1)
        transfer = try Transfer()
        driver.finished = { [unowned self] transfer, code in finished(transfer, code) }
    }

    func fetch() {
        do {
            let body = try account.grant(now: wallClock())
            try configure(body)
        } catch {
            events.append(.tokenFailed(credential: credential, error))
        }
    }

    private func configure(_ body: [UInt8]) throws(Failure) {
        do {
            let headers = try HeaderList(["Content-Type: application/x-www-form-urlencoded"])
            try transfer.configure(options.settings(url: EndpointURL(account.tokenURL), headers: headers))
            transfer.setBody(body)
            transfer.maximumIssues = 3
            try driver.multi.add(transfer)
        } catch {
            throw Failure(
                .configuration, "the token endpoint cannot be used: \(error)",
                remedy: "check \"token_uri\" in the key file")
        }
    }

    func turn(now: Int64) { driver.turn(now: now) }
    var deadline: Int64? { driver.deadline }

    private func finished(_ transfer: Transfer, _ code: CurlCode) {
        guard transfer.status >= 200 else {
            let host = Provider.host(of: account.tokenURL)
            events.append(
                .tokenFailed(
                    credential: credential,
                    TransportFault.connectFault(code, host: host, detail: transfer.errorText)
                        ?? Failure(
                            .unavailable, "the token endpoint \(host) gave no answer: \(code)",
                            remedy: "check the network")))
            return
        }
        switch TokenAnswer.judge(status: transfer.status, body: transfer.response) {
        case .failure(let failure):
            events.append(.tokenFailed(credential: credential, failure))
        case .token(let token, let lifetimeSeconds):
            do {
                try received(token)
            } catch {
                events.append(
                    .tokenFailed(
                        credential: credential,
                        Failure(
                            .configuration, "the token endpoint gave no usable token", remedy: "check \"token_uri\"")))
                return
            }
            events.append(.tokenReady(credential: credential, lifetime: Int64(lifetimeSeconds) * 1_000_000_000))
        }
    }
}
