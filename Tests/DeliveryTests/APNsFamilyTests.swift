import Testing

@testable import Delivery

/// Every reason of Apple's tables with every status, and what comes without a reason.
@Suite struct APNsFamilyTests {
    typealias Base = VerdictTests

    static let reasons: [(String, VerdictClass, Int?)] = [
        ("BadCollapseId", .payload, nil), ("BadDeviceToken", .tokenInvalid, nil), ("BadExpirationDate", .payload, nil),
        ("BadMessageId", .payload, nil), ("BadPriority", .payload, nil), ("BadTopic", .authConfig, nil),
        ("DeviceTokenNotForTopic", .permanent, nil), ("DuplicateHeaders", .payload, nil), ("IdleTimeout", .retry, nil),
        ("InvalidPushType", .payload, nil), ("MissingDeviceToken", .payload, nil), ("MissingTopic", .authConfig, nil),
        ("PayloadEmpty", .payload, nil), ("TopicDisallowed", .authConfig, nil), ("BadCertificate", .authConfig, nil),
        ("BadCertificateEnvironment", .authConfig, nil), ("ExpiredProviderToken", .authConfig, nil),
        ("Forbidden", .authConfig, nil), ("InvalidProviderToken", .authConfig, nil),
        ("MissingProviderToken", .authConfig, nil), ("UnrelatedKeyIdInToken", .authConfig, nil),
        ("BadEnvironmentKeyIdInToken", .authConfig, nil), ("BadEnvironmentKeyInToken", .authConfig, nil),
        ("BadPath", .permanent, nil), ("MethodNotAllowed", .permanent, nil), ("ExpiredToken", .tokenInvalid, nil),
        ("Unregistered", .tokenInvalid, nil), ("PayloadTooLarge", .payload, nil),
        ("TooManyProviderTokenUpdates", .authConfig, nil), ("TooManyRequests", .retry, nil),
        ("InternalServerError", .retryAfter, 900), ("ServiceUnavailable", .retryAfter, 900),
        ("Service Unavailable", .retryAfter, 900), ("Shutdown", .retryAfter, 900),
        // Broadcast channels.
        ("FeatureNotEnabled", .authConfig, nil), ("MissingChannelId", .payload, nil), ("BadChannelId", .payload, nil),
        ("ChannelNotRegistered", .permanent, nil), ("BadRequestParams", .payload, nil),
        ("BadRequestPayload", .payload, nil), ("MissingPushType", .payload, nil),
        ("CannotCreateChannelConfig", .permanent, nil), ("TopicMismatch", .authConfig, nil),
    ]

    @Test(arguments: reasons)
    func `the reason outranks the status`(_ reason: String, _ kind: VerdictClass, _ wait: Int?) {
        for status in [400, 403, 404, 405, 410, 413, 429, 500, 503] {
            let verdict = Base.apns(status, #"{"reason":"\#(reason)"}"#)
            #expect(verdict.kind == kind && verdict.retryAfterSeconds == wait, "\(status)")
            #expect(verdict.code == reason.filter { $0 != " " } && verdict.evidence == .apnsReason)
            let told = Base.apns(status, #"{"reason":"\#(reason)"}"#, retryAfter: "20")
            let isAgain = kind == .retry || kind == .retryAfter
            #expect(told.kind == (isAgain ? .retryAfter : kind) && told.retryAfterSeconds == (isAgain ? 20 : nil))
        }
        #expect(Base.apns(200, #"{"reason":"\#(reason)"}"#).kind == .sent)
    }

    @Test func `the table knows no other reasons`() {
        let named = Set(Self.reasons.map { APNsReason.normalized($0.0) })
        #expect(named == Set(APNsReason.kinds.keys))
    }

    @Test(
        arguments: [
            (200, .sent, nil), (201, .sent, nil), (204, .sent, nil), (301, .authConfig, nil), (400, .payload, nil),
            (401, .authConfig, nil), (403, .authConfig, nil), (404, .permanent, nil), (405, .permanent, nil),
            (407, .authConfig, nil), (408, .retry, nil), (410, .tokenInvalid, nil), (413, .payload, nil),
            (421, .retry, nil), (429, .retry, nil), (500, .retryAfter, 900), (501, .retryAfter, 900),
            (502, .retryAfter, 900), (503, .retryAfter, 900), (504, .retryAfter, 900), (599, .retryAfter, 900),
            (100, .unknown, nil), (0, .unknown, nil), (600, .unknown, nil),
        ] as [(Int, VerdictClass, Int?)])
    func `without a known reason the status decides`(_ status: Int, _ kind: VerdictClass, _ wait: Int?) {
        for body in [
            "", "{}", "[]", #"{"reason":7}"#, #"{"reason":null}"#, #"{"reason":"baddevicetoken"}"#, "BadDeviceToken",
            #"{"error":{"reason":"Unregistered"}}"#, #"{"reason":"SomeFutureReason"}"#, "{\"reason\":\"Unregistered",
        ] {
            let verdict = Base.apns(status, body)
            #expect(verdict.kind == kind && verdict.retryAfterSeconds == wait, "\(status) \(body)")
            #expect(verdict.evidence == (status < 200 ? .transport : .httpStatus))
        }
    }

    @Test(
        arguments: [
            ("1637679125000", 1_637_679_125_000), (#""1637679125000""#, 1_637_679_125_000),
            ("1637679125000.0", 1_637_679_125_000), ("1.637679125e12", 1_637_679_125_000), ("0", 0),
            ("-1", nil), ("1.5", nil), ("1e99", nil), (#""soon""#, nil), ("null", nil), ("[1]", nil), ("true", nil),
        ] as [(String, Int?)])
    func `the time of a death in every spelling`(_ timestamp: String, _ milliseconds: Int?) {
        for reason in [#""Unregistered""#, #""ExpiredToken""#, #""Novelty""#, "null"] {
            let verdict = Base.apns(410, #"{"reason":\#(reason),"timestamp":\#(timestamp)}"#)
            #expect(verdict.kind == .tokenInvalid && verdict.tokenInvalidSince == milliseconds)
        }
        #expect(Base.apns(400, #"{"reason":"BadDeviceToken","timestamp":\#(timestamp)}"#).tokenInvalidSince == nil)
        #expect(Base.apns(410, #"{"reason":"BadTopic","timestamp":\#(timestamp)}"#).tokenInvalidSince == nil)
    }
}
