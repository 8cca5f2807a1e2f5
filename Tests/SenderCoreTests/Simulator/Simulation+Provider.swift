import Delivery
import Operations
import Queue

@testable import SenderCore

/// Posts on their way to the provider and back.
extension Simulation {
    static let noConnection = Failure(.unavailable, "the provider refuses the connection", remedy: "wait")
    static let refusedStream = Failure(.unavailable, "the stream was refused", remedy: "wait")

    func post(_ order: PostOrder, of sender: SimulatedSender) {
        posts += 1
        let token = sender.tokens.indices.contains(order.credential) ? sender.tokens[order.credential] : nil
        let post = Post(number: posts, order: order, sender: sender.number, orderedAt: now, token: token)
        checkOrder(post, of: sender)
        if flaw != .ordersArePostedTwice, sender.posts[order.slot] != nil {
            ledger.report(.capacity, at: now, "sender \(sender.number) posts on slot \(order.slot), which is not free")
        }
        sender.posts[order.slot] = post
        let there = draw(500_000...plan.latency)
        let back = draw(500_000...plan.latency)
        let isIssuedAgain = flaw == .everythingIsIssuedAgain && !isWell && chance(200)
        guard !isWell, isIssuedAgain || chance(plan.postsInTrouble), !plan.postFaults.isEmpty || isIssuedAgain else {
            arrive(post, after: there, back: back, answer: nil, issues: 1)
            return
        }
        let fault = isIssuedAgain ? .issuedAgain : plan.postFaults[draw(0...plan.postFaults.count - 1)]
        let seconds = draw(0...7)
        switch fault {
        case .refusedStream:
            tell(post, .neverIssued, .notIssued(Self.refusedStream, isConnectFault: false), issues: 0, after: there)
        case .connectFault:
            tell(post, .neverIssued, .notIssued(Self.noConnection, isConnectFault: true), issues: 0, after: there)
        case .lostBefore: tell(post, .unknown, .unknown(reason: "connection lost"), issues: 1, after: there)
        case .lostAfter:
            after(there) { $0.process(post) }
            tell(post, .unknown, .unknown(reason: "connection lost"), issues: 1, after: there + back)
        case .timeout:
            if chance(500) { after(there) { $0.process(post) } }
            let limit = plan.settings.requestTimeout
            tell(post, .unknown, .unknown(reason: "timeout"), issues: 1, after: limit)
        case .issuedAgain: issueAgain(post, there: there, back: back)
        case .quota:
            let answer = chance(800) ? ProviderAnswers.quota[seconds] : ProviderAnswers.quotaWithoutTime
            arrive(post, after: there, back: back, answer: answer, issues: 1)
        case .unavailable: arrive(post, after: there, back: back, answer: ProviderAnswers.unavailable, issues: 1)
        case .internalError: arrive(post, after: there, back: back, answer: ProviderAnswers.internalError, issues: 1)
        case .html: arrive(post, after: there, back: back, answer: ProviderAnswers.html, issues: 1)
        case .waitAsked: arrive(post, after: there, back: back, answer: ProviderAnswers.wait[seconds], issues: 1)
        case .refusesUs:
            let answers = [ProviderAnswers.expiredToken, ProviderAnswers.forbidden, ProviderAnswers.thirdParty]
            arrive(post, after: there, back: back, answer: answers[draw(0...2)], issues: 1)
        }
    }

    /// libcurl posts the body again on a connection that died, if it may; the provider may have had it the first time.
    private func issueAgain(_ post: Post, there: Int64, back: Int64) {
        if chance(600) { after(there) { $0.process(post) } }
        guard !post.order.message.isAtMostOnce || flaw == .everythingIsIssuedAgain else {
            tell(post, .unknown, .unknown(reason: "second issue refused"), issues: 1, after: there + back)
            return
        }
        after(there) { _ in post.issues = 2 }
        arrive(post, after: there + back, back: back, answer: nil, issues: 2)
    }

    /// The request arrives, is answered as given or as it deserves, and the answer goes back.
    private func arrive(
        _ post: Post, after there: Int64, back: Int64, answer: ProviderAnswers.Answer?, issues: Int
    ) {
        after(there) { world in
            guard !post.isCut else { return }
            let message = world.queue[post.order.message.key.id]
            let answer =
                answer
                ?? world.provider.judge(post.order, token: post.token, message: message, now: world.now)
            if answer.verdict.kind == .sent { world.process(post) }
            world.tell(
                post, .answered(answer.verdict.kind), .answered(answer.verdict, httpStatus: answer.status),
                issues: issues, after: back)
        }
    }

    /// The provider takes the message: a device will show it.
    private func process(_ post: Post) {
        guard !post.isCut else { return }
        checkProcessed(post)
    }

    private func tell(
        _ post: Post, _ truth: Post.Truth, _ ending: TransferOutcome.Ending, issues: Int, after delay: Int64
    ) {
        after(delay) { world in
            guard !post.isOver else { return }
            let sender = world.senders[post.sender - 1]
            guard sender.posts[post.order.slot] === post else { return }
            sender.posts[post.order.slot] = nil
            world.finish(post, truth, ending, issues: issues, of: sender)
        }
    }

    func finish(
        _ post: Post, _ truth: Post.Truth, _ ending: TransferOutcome.Ending, issues: Int, of sender: SimulatedSender
    ) {
        post.isOver = true
        post.truth = truth
        if case .answered(let verdict, _) = ending { post.secondsToWait = verdict.retryAfterSeconds }
        checkTold(post)
        sender.lastPosts[post.order.slot] = post
        var outcome = TransferOutcome(
            flaw.map { $0.distort(ending) } ?? ending, issues: flaw == .secondIssuesAreHidden ? min(issues, 1) : issues)
        if case .answered = truth { outcome.isHTTP1 = provider.speaksOldProtocol }
        if flaw == .answersGetLost && chance(50) { return }
        deliver(.transferFinished(slot: post.order.slot, outcome), to: sender)
    }

    // MARK: Streams and tokens

    /// A connection breaks with all its streams: what had not arrived may or may not arrive now.
    func loseStreams(of sender: SimulatedSender) {
        note(.fault, (5, sender.number, 0), "sender \(sender.number) loses its streams")
        for slot in sender.posts.keys.sorted() {
            guard let post = sender.posts[slot] else { continue }
            sender.posts[slot] = nil
            post.isCut = chance(500)
            finish(post, .unknown, .unknown(reason: "connection lost"), issues: post.issues, of: sender)
        }
    }

    func change(capacity: Int, of sender: SimulatedSender) {
        sender.capacity = capacity
        deliver(.capacity(streams: capacity), to: sender)
    }

    func fetchToken(_ credential: Int, for sender: SimulatedSender) {
        after(draw(1...300) * VirtualClock.millisecond) { world in
            guard sender.isAlive else { return }
            guard !world.provider.refusesTokens[credential] else {
                let failure = Failure(.configuration, "no token", remedy: "wait")
                world.deliver(.tokenFailed(credential: credential, failure), to: sender)
                return
            }
            let lifetime = world.plan.tokenLifetime
            sender.tokens[credential] = AccessToken(
                epoch: world.provider.tokenEpochs[credential], expiresAt: world.now + lifetime)
            world.deliver(.tokenReady(credential: credential, lifetime: lifetime), to: sender)
        }
    }
}

extension Flaw {
    /// What the shell makes of an ending by mistake.
    fileprivate func distort(_ ending: TransferOutcome.Ending) -> TransferOutcome.Ending {
        switch (self, ending) {
        case (.unknownOutcomesSeemRefused, .unknown):
            return .answered(ProviderAnswers.unavailable.verdict, httpStatus: 503)
        case (.retryAfterIsHidden, .answered(var verdict, let status)):
            verdict.retryAfterSeconds = nil
            return .answered(verdict, httpStatus: status)
        default: return ending
        }
    }
}
