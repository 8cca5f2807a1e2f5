import Delivery

@testable import SenderCore

/// FCM's answers, as bytes judged by the sender's own table.
enum ProviderAnswers {
    typealias Answer = (verdict: Verdict, status: Int)

    static let sent = answer(200, #"{"name":"projects/p/messages/0:1"}"#)
    static let deadToken = answer(404, fcm("NOT_FOUND", "UNREGISTERED"))
    static let badPayload = answer(400, fcm("INVALID_ARGUMENT", "INVALID_ARGUMENT"))
    static let wrongSender = answer(403, fcm("PERMISSION_DENIED", "SENDER_ID_MISMATCH"))
    static let expiredToken = answer(401, #"{"error":{"code":401,"status":"UNAUTHENTICATED"}}"#)
    static let forbidden = answer(403, #"{"error":{"code":403,"status":"PERMISSION_DENIED"}}"#)
    static let thirdParty = answer(401, fcm("UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"))
    static let quotaWithoutTime = answer(429, fcm("RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"))
    static let unavailable = answer(503, fcm("UNAVAILABLE", "UNAVAILABLE"))
    static let internalError = answer(500, fcm("INTERNAL", "INTERNAL"))
    static let html = answer(502, "<html><h1>502 Bad Gateway</h1></html>")
    /// By seconds, from 1.
    static let quota = (1...8).map { answer(429, fcm("RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"), retryAfter: $0) }
    static let wait = (1...8).map { answer(503, fcm("UNAVAILABLE", "UNAVAILABLE"), retryAfter: $0) }

    private static func fcm(_ status: String, _ code: String) -> String {
        """
        {"error":{"status":"\(status)","message":"m","details":[{
        "@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\(code)"}]}}
        """
    }

    private static func answer(_ status: Int, _ body: String, retryAfter: Int? = nil) -> Answer {
        let answer = ProviderAnswer(status: status, retryAfter: retryAfter.map(String.init), body: Array(body.utf8))
        return (Verdict.fcm(answer, now: 1_764_500_000), status)
    }
}

extension VerdictClass {
    /// Whether an answer of this class is about the message, so that it costs an attempt.
    var spendsAttempt: Bool {
        switch self {
        case .sent, .authConfig: false
        case .retry, .retryAfter, .tokenInvalid, .permanent, .payload, .unknown: true
        }
    }
}
