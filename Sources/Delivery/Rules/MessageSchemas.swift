extension Schema {
    /// What is common to all platforms.
    static let messageSchemas = [
        Schema(
            .message,
            [
                Field("token", .string, .target(.token)),
                Field("fid", .string, .target(.fid)),
                Field("topic", .string, .target(.topic)),
                Field("condition", .string, .target(.condition)),
                Field("data", .stringMap(.data)),
                Field("notification", .message(.notification)),
                Field("android", .message(.androidConfig)),
                Field("android_v2", .message(.androidConfigV2)),
                Field("apns", .message(.apnsConfig)),
                Field("webpush", .message(.webpushConfig)),
                Field("fcm_options", .message(.fcmOptions)),
                Field("name", .string, .outputOnly),
            ]),
        Schema(
            .notification,
            [Field("title", .string), Field("body", .string), Field("image", .string, .webURL)]),
        Schema(.fcmOptions, [Field("analytics_label", .string, .analyticsLabel)]),
    ]

    /// What is set for iOS and for browsers.
    static let platformSchemas = [
        Schema(
            .apnsConfig,
            [
                Field("headers", .stringMap(.apnsHeaders)),
                Field("payload", .structure(.apnsPayload)),
                Field("fcm_options", .message(.apnsFcmOptions)),
                Field("live_activity_token", .string, .notEmpty),
            ]),
        Schema(
            .apnsFcmOptions,
            [Field("analytics_label", .string, .analyticsLabel), Field("image", .string, .webURL)]),
        Schema(
            .webpushConfig,
            [
                Field("headers", .stringMap(.webpushHeaders)),
                Field("data", .stringMap(.data)),
                Field("notification", .structure(.webNotification)),
                Field("fcm_options", .message(.webpushFcmOptions)),
            ]),
        Schema(
            .webpushFcmOptions,
            [Field("link", .string, .secureURL), Field("analytics_label", .string, .analyticsLabel)]),
    ]
}
