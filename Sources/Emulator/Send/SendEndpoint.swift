import Delivery

/// `POST /v1/projects/{project}/messages:send`: judges the bearer token, the project, and the message.
struct SendEndpoint {
    /// Tokens and FIDs that begin so are answered with UNREGISTERED.
    static let unregisteredPrefix = "unregistered-"

    let project: [UInt8]
    let maxBodyBytes: Int

    init(project: String, maxBodyBytes: Int) {
        self.project = [UInt8](project.utf8)
        self.maxBodyBytes = maxBodyBytes
    }

    /// What the server decides about one request; `tokenState` is nil when there is no bearer token.
    func decide(
        project requested: ArraySlice<UInt8>, tokenState: AccessTokens.State?, body: [UInt8], isBodyCut: Bool
    ) -> SendDecision {
        switch tokenState {
        case .valid: break
        case .expired: return .refuse(.expiredToken)
        case .unknown: return .refuse(.unknownToken)
        case nil: return .refuse(.missingCredentials)
        }
        guard requested.elementsEqual(project) else {
            return .refuse(.otherProject(String(decoding: requested, as: UTF8.self)))
        }
        if isBodyCut { return .refuse(.tooLong(limit: maxBodyBytes)) }
        return decide(body.span)
    }

    private func decide(_ body: Span<UInt8>) -> SendDecision {
        let envelope: Envelope
        do {
            envelope = try Envelope(body)
        } catch {
            return .refuse(.invalid([(error.field, error.description)]))
        }
        guard let message = envelope.message else {
            return .refuse(.invalid([("message", "Recipient of the message is not set.")]))
        }
        let report = MessageRules.check(body.extracting(message))
        guard report.isValid else {
            let wording = ServerWording(message: body.extracting(message))
            return .refuse(.invalid(report.errors.map(wording.violation)))
        }
        if let target = report.target, target.kind == .token || target.kind == .fid,
            target.value.utf8.starts(with: Self.unregisteredPrefix.utf8)
        {
            return .refuse(.unregistered)
        }
        return envelope.isValidateOnly ? .validated : .accept(message)
    }
}
