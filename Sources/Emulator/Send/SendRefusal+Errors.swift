import Delivery

/// FCM's errors in the shapes and words in which its server gives them.
extension SendRefusal {
    private static let signInHelp =
        "Expected OAuth 2 access token, login cookie or other valid authentication credential. "
        + "See https://developers.google.com/identity/sign-in/web/devconsole-project."

    static let missingCredentials = SendRefusal(
        error: RPCError(
            code: 401, status: "UNAUTHENTICATED",
            message: "Request is missing required authentication credential. \(signInHelp)",
            details: [authenticationInfo("CREDENTIALS_MISSING")]),
        challenge: "Bearer realm=\"https://accounts.google.com/\"")

    static let unknownToken = SendRefusal(
        error: RPCError(
            code: 401, status: "UNAUTHENTICATED",
            message: "Request had invalid authentication credentials. \(signInHelp)"),
        challenge: "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\"")

    static let expiredToken = SendRefusal(
        error: RPCError(
            code: 401, status: "UNAUTHENTICATED",
            message: "Request had invalid authentication credentials. \(signInHelp)",
            details: [authenticationInfo("ACCESS_TOKEN_EXPIRED")]),
        challenge: "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\"")

    static func otherProject(_ project: String) -> SendRefusal {
        let resource = "//cloudresourcemanager.googleapis.com/projects/\(project)"
        return SendRefusal(
            error: RPCError(
                code: 403, status: "PERMISSION_DENIED",
                message:
                    "Permission 'cloudmessaging.messages.create' denied on resource '\(resource)' (or it may not exist).",
                details: [
                    .errorInfo(
                        reason: "IAM_PERMISSION_DENIED", domain: "cloudresourcemanager.googleapis.com",
                        metadata: [
                            ("permission", "cloudmessaging.messages.create"), ("resource", "projects/\(project)"),
                        ])
                ]))
    }

    static let unregistered = SendRefusal(
        error: RPCError(
            code: 404, status: "NOT_FOUND", message: "Requested entity was not found.",
            details: [.fcmError("UNREGISTERED")]))

    /// The answer to a body that is too long to be read.
    static func tooLong(limit: Int) -> SendRefusal {
        SendRefusal(
            error: RPCError(
                code: 400, status: "INVALID_ARGUMENT",
                message: "Request payload size exceeds the limit: \(limit) bytes."))
    }

    /// 400 with a violation for each fault; the first one is the message of the whole.
    static func invalid(_ violations: [(field: String, description: String)]) -> SendRefusal {
        SendRefusal(
            error: RPCError(
                code: 400, status: "INVALID_ARGUMENT",
                message: violations.first?.description ?? "Request contains an invalid argument.",
                details: [.badRequest(violations), .fcmError("INVALID_ARGUMENT")]))
    }

    private static func authenticationInfo(_ reason: String) -> RPCError.Detail {
        .errorInfo(
            reason: reason, domain: "googleapis.com",
            metadata: [
                ("service", "fcm.googleapis.com"), ("method", "google.firebase.fcm.v1.FcmService.SendMessage"),
            ])
    }
}
