/// What in an answer decided the verdict.
package enum Evidence: String, Sendable, CaseIterable {
    /// Nothing but the HTTP status.
    case httpStatus = "http_status"
    /// FCM: `error.status`, a word of google.rpc.
    case rpcStatus = "rpc_status"
    /// FCM: the `errorCode` of an FcmError among `error.details`.
    case fcmError = "fcm_error"
    /// FCM: a field violation that names the token.
    case fieldViolation = "field_violation"
    /// FCM: the sentence about the registration token in `error.message`.
    case tokenMessage = "token_message"
    /// FCM: the `reason` of an ApnsError among `error.details`, which is what APNs said to FCM.
    case apnsError = "apns_error"
    /// APNs: `reason`.
    case apnsReason = "apns_reason"
    /// No final status came: libcurl's code, and whether the request was issued.
    case transport
}
