extension Schema {
    /// What is set for Android, in both generations.
    static let androidSchemas = [
        Schema(
            .androidConfig,
            sharedConfigFields + [
                Field("priority", .enumeration(.androidPriority)),
                Field("notification", .message(.androidNotification)),
            ]),
        Schema(
            .androidNotification,
            sharedNotificationFields + [
                Field("image", .string, .webURL, fact: .androidImage),
                Field("notification_count", .int32, .notNegative),
                Field("proxy", .enumeration(.proxy)),
                Field("bypass_proxy_notification", .boolean),
            ]),
        Schema(.androidFcmOptions, [Field("analytics_label", .string, .analyticsLabel)]),
        Schema(
            .lightSettings,
            [
                Field("color", .message(.colour), isRequired: true),
                Field("light_on_duration", .duration, isRequired: true),
                Field("light_off_duration", .duration, isRequired: true),
            ]),
        Schema(
            .colour,
            [
                Field("red", .float, .fraction), Field("green", .float, .fraction), Field("blue", .float, .fraction),
                Field("alpha", .float, .fraction),
            ]),
        Schema(
            .androidConfigV2,
            sharedConfigFields + [
                Field("background_sync", .message(.androidBackgroundSync)),
                Field("remote_notification", .message(.androidRemoteNotification)),
            ]),
        Schema(.androidBackgroundSync, []),
        Schema(
            .androidRemoteNotification,
            [
                Field("mutable_content", .boolean),
                Field("use_as_v1_data_message", .boolean),
                Field("notification", .message(.androidNotificationV2)),
            ]),
        // Its image is documented as an HTTPS URL, and a count that is not positive as "use the default".
        Schema(
            .androidNotificationV2,
            sharedNotificationFields + [
                Field("image", .string, .secureURL, fact: .androidImage),
                Field("notification_count", .int32),
                Field("id", .int32),
            ]),
    ]

    private static let sharedConfigFields = [
        Field("collapse_key", .string, fact: .collapseKey),
        Field("ttl", .duration, .timeToLive),
        Field("restricted_package_name", .string),
        Field("data", .stringMap(.data)),
        Field("fcm_options", .message(.androidFcmOptions)),
        Field("direct_boot_ok", .boolean),
        Field("bandwidth_constrained_ok", .boolean),
        Field("restricted_satellite_ok", .boolean),
    ]

    private static let sharedNotificationFields = [
        Field("title", .string, fact: .androidTitle),
        Field("body", .string, fact: .androidBody),
        Field("icon", .string),
        Field("color", .string, .colour),
        Field("sound", .string),
        Field("tag", .string),
        Field("click_action", .string),
        Field("body_loc_key", .string),
        Field("body_loc_args", .strings, needs: "body_loc_key"),
        Field("title_loc_key", .string),
        Field("title_loc_args", .strings, needs: "title_loc_key"),
        Field("channel_id", .string),
        Field("ticker", .string),
        Field("sticky", .boolean),
        Field("event_time", .timestamp),
        Field("local_only", .boolean),
        Field("notification_priority", .enumeration(.notificationPriority)),
        Field("default_sound", .boolean),
        Field("default_vibrate_timings", .boolean),
        Field("default_light_settings", .boolean),
        Field("vibrate_timings", .durations),
        Field("visibility", .enumeration(.visibility)),
        Field("light_settings", .message(.lightSettings)),
    ]
}
