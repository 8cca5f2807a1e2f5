import Delivery

/// `POST /v1/projects/{project}/messages:send`: judges the bearer token, the project, and the message.
struct SendEndpoint {
    /// What the endpoint thinks of a request, and what it saw on the way.
    struct Judgement {
        var decision: SendDecision
        /// The project's place in the list; nil when the request did not get as far as one.
        var project: Int?
        /// Where the message goes, when it says so in exactly one way.
        var target: MessageTarget?
        /// Where the message is in the body.
        var message: Range<Int>?
    }

    let projects: [[UInt8]]
    let maxBodyBytes: Int

    init(projects: [String], maxBodyBytes: Int) {
        self.projects = projects.map { [UInt8]($0.utf8) }
        self.maxBodyBytes = maxBodyBytes
    }

    /// What the server thinks of one request; `tokenState` is nil when there is no bearer token.
    func judge(
        project requested: ArraySlice<UInt8>, tokenState: AccessTokens.State?, body: [UInt8], isBodyCut: Bool
    ) -> Judgement {
        switch tokenState {
        case .valid: break
        case .expired: return Judgement(decision: .refuse(.expiredToken))
        case .unknown: return Judgement(decision: .refuse(.unknownToken))
        case nil: return Judgement(decision: .refuse(.missingCredentials))
        }
        guard let project = projects.firstIndex(where: { requested.elementsEqual($0) }) else {
            return Judgement(decision: .refuse(.otherProject(String(decoding: requested, as: UTF8.self))))
        }
        if isBodyCut { return Judgement(decision: .refuse(.tooLong(limit: maxBodyBytes)), project: project) }
        return judge(body.span, project: project)
    }

    private func judge(_ body: Span<UInt8>, project: Int) -> Judgement {
        let envelope: Envelope
        do {
            envelope = try Envelope(body)
        } catch {
            return Judgement(decision: .refuse(.invalid([(error.field, error.description)])), project: project)
        }
        guard let message = envelope.message else {
            return Judgement(
                decision: .refuse(.invalid([("message", "Recipient of the message is not set.")])), project: project)
        }
        let report = MessageRules.check(body.extracting(message))
        guard report.isValid else {
            let wording = ServerWording(message: body.extracting(message))
            return Judgement(
                decision: .refuse(.invalid(report.errors.map(wording.violation))), project: project,
                target: report.target, message: message)
        }
        return Judgement(
            decision: envelope.isValidateOnly ? .validated : .accept(message), project: project,
            target: report.target, message: message)
    }
}
