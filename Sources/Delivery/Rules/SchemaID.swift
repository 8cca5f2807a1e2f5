/// The message types of FCM v1 (discovery document of 2026-10-23), then the free JSON that APNs and browsers define.
package enum SchemaID: Int, Sendable, CaseIterable {
    case request, message, notification, fcmOptions
    case androidConfig, androidNotification, androidFcmOptions, lightSettings, colour
    case androidConfigV2, androidBackgroundSync, androidRemoteNotification, androidNotificationV2
    case apnsConfig, apnsFcmOptions
    case webpushConfig, webpushFcmOptions
    case apnsPayload, aps, alert, localizedText, sound
    case webNotification

    /// The type's name in the discovery document; nil for free JSON.
    package var discoveryName: String? {
        switch self {
        case .request: "SendMessageRequest"
        case .message: "Message"
        case .notification: "Notification"
        case .fcmOptions: "FcmOptions"
        case .androidConfig: "AndroidConfig"
        case .androidNotification: "AndroidNotification"
        case .androidFcmOptions: "AndroidFcmOptions"
        case .lightSettings: "LightSettings"
        case .colour: "Color"
        case .androidConfigV2: "AndroidConfigV2"
        case .androidBackgroundSync: "AndroidBackgroundSyncMessage"
        case .androidRemoteNotification: "AndroidRemoteNotification"
        case .androidNotificationV2: "AndroidNotificationV2"
        case .apnsConfig: "ApnsConfig"
        case .apnsFcmOptions: "ApnsFcmOptions"
        case .webpushConfig: "WebpushConfig"
        case .webpushFcmOptions: "WebpushFcmOptions"
        case .apnsPayload, .aps, .alert, .localizedText, .sound, .webNotification: nil
        }
    }
}

extension Schema {
    /// Every message type, in the order of `SchemaID`.
    package static let all: [Schema] = messageSchemas + androidSchemas + platformSchemas + freeSchemas
}
