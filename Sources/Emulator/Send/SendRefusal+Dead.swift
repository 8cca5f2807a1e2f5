/// Errors about targets, quotas and the service itself: those that only a rule, a quota or a target brings about.
extension SendRefusal {
    static let senderIDMismatch = SendRefusal(
        error: RPCError(
            code: 403, status: "PERMISSION_DENIED", message: "SenderId mismatch",
            details: [.fcmError("SENDER_ID_MISMATCH")]))

    /// UNREGISTERED as it comes for an iOS device, with APNs' own words beside it.
    static let apnsUnregistered = SendRefusal(
        error: RPCError(
            code: 404, status: "NOT_FOUND", message: "Requested entity was not found.",
            details: [.fcmError("UNREGISTERED"), .apnsError(status: 410, reason: "Unregistered")]))

    /// The same fact as INVALID_ARGUMENT, which is seen too.
    static let apnsDisabled = SendRefusal(
        error: RPCError(
            code: 400, status: "INVALID_ARGUMENT", message: "APNs device token is disabled.",
            details: [.fcmError("INVALID_ARGUMENT"), .apnsError(status: 410, reason: "Unregistered")]))

    static let apnsBadDeviceToken = SendRefusal(
        error: RPCError(
            code: 400, status: "INVALID_ARGUMENT", message: "Request contains an invalid argument.",
            details: [.fcmError("INVALID_ARGUMENT"), .apnsError(status: 400, reason: "BadDeviceToken")]))

    /// The registration token is not one, said by a field violation.
    static let invalidToken = SendRefusal(
        error: RPCError(
            code: 400, status: "INVALID_ARGUMENT",
            message: "The registration token is not a valid FCM registration token",
            details: [
                .badRequest([("message.token", "Invalid registration token")]), .fcmError("INVALID_ARGUMENT"),
            ]))

    static let invalidArgument = SendRefusal(
        error: RPCError(
            code: 400, status: "INVALID_ARGUMENT", message: "Request contains an invalid argument.",
            details: [.fcmError("INVALID_ARGUMENT")]))

    /// The key for APNs or web push in Firebase's console is wrong.
    static let thirdPartyAuth = SendRefusal(
        error: RPCError(
            code: 401, status: "UNAUTHENTICATED",
            message: "Auth error from APNS or Web Push Service",
            details: [
                .fcmError("THIRD_PARTY_AUTH_ERROR"), .apnsError(status: 403, reason: "InvalidProviderToken"),
            ]))

    static let iamDenied = otherProject("demo-project")

    static let serviceDisabled = SendRefusal(
        error: RPCError(
            code: 403, status: "PERMISSION_DENIED",
            message: "Firebase Cloud Messaging API has not been used in project 100000000000 before or it is disabled. "
                + "Enable it by visiting https://console.developers.google.com/apis/api/fcm.googleapis.com/overview"
                + "?project=100000000000 then retry.",
            details: [
                .errorInfo(
                    reason: "SERVICE_DISABLED", domain: "googleapis.com",
                    metadata: [("service", "fcm.googleapis.com"), ("consumer", "projects/100000000000")])
            ]))

    static func quotaExceeded(retryAfter: Int?) -> SendRefusal {
        SendRefusal(
            error: RPCError(
                code: 429, status: "RESOURCE_EXHAUSTED",
                message: "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute'.",
                details: [
                    .fcmError("QUOTA_EXCEEDED"),
                    .quotaFailure(
                        subject: "project:100000000000", description: "Send requests per minute exceeded."),
                ]), retryAfter: retryAfter)
    }

    /// The same fact without any FcmError, as the quota of the project's API says it.
    static func rateLimitExceeded(retryAfter: Int?) -> SendRefusal {
        SendRefusal(
            error: RPCError(
                code: 429, status: "RESOURCE_EXHAUSTED",
                message: "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute' "
                    + "of service 'fcm.googleapis.com' for consumer 'project_number:100000000000'.",
                details: [
                    .errorInfo(
                        reason: "RATE_LIMIT_EXCEEDED", domain: "googleapis.com",
                        metadata: [
                            ("service", "fcm.googleapis.com"), ("consumer", "projects/100000000000"),
                            ("quota_limit", "SendsPerMinutePerProject"), ("quota_limit_value", "600000"),
                        ])
                ]), retryAfter: retryAfter)
    }

    static let unavailable = SendRefusal(
        error: RPCError(
            code: 503, status: "UNAVAILABLE", message: "The service is currently unavailable.",
            details: [.fcmError("UNAVAILABLE")]))

    static let internalError = SendRefusal(
        error: RPCError(
            code: 500, status: "INTERNAL", message: "Internal error encountered.", details: [.fcmError("INTERNAL")]))
}
