extension Schema {
    /// What is common to all platforms.
    static let messageSchemas = [
        Schema(
            .request,
            [
                Field("message", .message(.message), isRequired: true),
                Field("validate_only", .boolean, fact: .validateOnly),
            ]),
        Schema(
            .message,
            [
                Field("token", .string, .target(.token)),
                Field("fid", .string, .target(.fid)),
                Field("topic", .string, .target(.topic)),
                Field("condition", .string, .target(.condition)),
                Field("data", .stringMap(.data)),
                Field("notification", .message(.notification), fact: .notification),
                Field("android", .message(.androidConfig), fact: .android),
                Field("android_v2", .message(.androidConfigV2), fact: .androidV2),
                Field("apns", .message(.apnsConfig)),
                Field("webpush", .message(.webpushConfig)),
                Field("fcm_options", .message(.fcmOptions)),
                Field("name", .string, .outputOnly),
            ]),
        Schema(
            .notification,
            [
                Field("title", .string, fact: .title), Field("body", .string, fact: .body),
                Field("image", .string, .webURL, fact: .image),
            ]),
        Schema(.fcmOptions, [Field("analytics_label", .string, .analyticsLabel)]),
    ]

    /// What is set for iOS and for browsers.
    static let platformSchemas = [
        Schema(
            .apnsConfig,
            [
                Field("headers", .stringMap(.apnsHeaders)),
                Field("payload", .structure(.apnsPayload), fact: .payload),
                Field("fcm_options", .message(.apnsFcmOptions)),
                Field("live_activity_token", .string, .notEmpty, fact: .liveActivity),
            ]),
        Schema(
            .apnsFcmOptions,
            [
                Field("analytics_label", .string, .analyticsLabel),
                Field("image", .string, .webURL, fact: .appleImage),
            ]),
        Schema(
            .webpushConfig,
            [
                Field("headers", .stringMap(.webpushHeaders)),
                Field("data", .stringMap(.data)),
                Field("notification", .structure(.webNotification), fact: .webNotification),
                Field("fcm_options", .message(.webpushFcmOptions)),
            ]),
        Schema(
            .webpushFcmOptions,
            [Field("link", .string, .secureURL), Field("analytics_label", .string, .analyticsLabel)]),
    ]
}
