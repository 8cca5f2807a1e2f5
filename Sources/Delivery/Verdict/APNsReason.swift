/// The reasons that APNs gives, and what each means (Apple, "Handling notification responses from APNs").
enum APNsReason {
    /// Reasons that prove a token dead.
    ///
    /// `BadDeviceToken` is also what a sandbox token on the production host gets:
    /// whoever deletes tokens has to notice when many of them come at once.
    static let deadTokens: Set<String> = ["BadDeviceToken", "Unregistered", "ExpiredToken"]

    static let kinds: [String: VerdictClass] = [
        "BadDeviceToken": .tokenInvalid, "Unregistered": .tokenInvalid, "ExpiredToken": .tokenInvalid,

        "BadCollapseId": .payload, "BadExpirationDate": .payload, "BadMessageId": .payload, "BadPriority": .payload,
        "DuplicateHeaders": .payload, "InvalidPushType": .payload, "MissingDeviceToken": .payload,
        "PayloadEmpty": .payload, "PayloadTooLarge": .payload,
        "MissingPushType": .payload, "MissingChannelId": .payload, "BadChannelId": .payload,
        "BadRequestParams": .payload, "BadRequestPayload": .payload,

        // One wrong setting makes every token answer so: the token stays.
        "DeviceTokenNotForTopic": .permanent, "BadPath": .permanent, "MethodNotAllowed": .permanent,
        "ChannelNotRegistered": .permanent, "CannotCreateChannelConfig": .permanent,

        "BadTopic": .authConfig, "MissingTopic": .authConfig, "TopicDisallowed": .authConfig,
        "TopicMismatch": .authConfig, "BadCertificate": .authConfig, "BadCertificateEnvironment": .authConfig,
        "ExpiredProviderToken": .authConfig, "Forbidden": .authConfig, "InvalidProviderToken": .authConfig,
        "MissingProviderToken": .authConfig, "UnrelatedKeyIdInToken": .authConfig,
        "BadEnvironmentKeyIdInToken": .authConfig, "BadEnvironmentKeyInToken": .authConfig,
        "TooManyProviderTokenUpdates": .authConfig, "FeatureNotEnabled": .authConfig,

        "IdleTimeout": .retry, "TooManyRequests": .retry,
        "InternalServerError": .retryAfter, "ServiceUnavailable": .retryAfter, "Shutdown": .retryAfter,
    ]

    /// What a reason means where FCM passes it on beside INVALID_ARGUMENT.
    ///
    /// FCM chooses the topic itself unless the message's `apns-topic` header does: a wrong one is the message's fault, and
    /// does not stop the app. Its own waits are FCM's affair.
    static let kindsThroughFCM: [String: VerdictClass] = kinds.mapValues { $0 == .retryAfter ? .retry : $0 }
        .merging(["BadTopic", "MissingTopic", "TopicDisallowed", "FeatureNotEnabled"].map { ($0, .payload) }) { $1 }

    /// The reason as the table spells it: Apple's broadcast page writes "Service Unavailable".
    static func normalized(_ reason: String) -> String { String(reason.filter { $0 != " " }) }
}
