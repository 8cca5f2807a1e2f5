extension Schema {
    /// Free JSON whose known keys have known types; other keys may hold anything.
    ///
    /// Sources: Apple's payload key reference, the Web Notifications API, and the checks of Google's own SDKs.
    static let freeSchemas = [
        // Three of the five SDKs cannot send a payload without `aps`, and Apple calls the dictionary required.
        Schema(.apnsPayload, isOpen: true, [Field("aps", .object(.aps), isRequired: true, fact: .aps)]),
        Schema(
            .aps, isOpen: true,
            [
                Field("alert", .textOrObject(.alert), fact: .alert),
                Field("badge", .number, fact: .badge),
                Field("sound", .textOrObject(.sound), .notEmpty, fact: .sound),
                Field("content-available", .flag, fact: .contentAvailable),
                Field("mutable-content", .flag, fact: .mutableContent),
                Field("category", .text),
                Field("thread-id", .text),
                Field("target-content-id", .text),
                Field("interruption-level", .enumeration(.interruptionLevel)),
                Field("relevance-score", .number),
                Field("filter-criteria", .text),
                Field("url-args", .texts),
                Field("event", .enumeration(.liveActivityEvent), fact: .event),
                Field("timestamp", .number, fact: .timestamp),
                Field("stale-date", .number),
                Field("dismissal-date", .number),
                Field("attributes-type", .text),
            ]),
        // A Live Activity gives title and body as {"loc-key": …, "loc-args": …}.
        Schema(
            .alert, isOpen: true,
            [
                Field("title", .textOrObject(.localizedText)),
                Field("subtitle", .textOrObject(.localizedText)),
                Field("body", .textOrObject(.localizedText)),
                Field("loc-key", .text),
                Field("loc-args", .texts, needs: "loc-key"),
                Field("title-loc-key", .text),
                Field("title-loc-args", .texts, needs: "title-loc-key"),
                Field("subtitle-loc-key", .text),
                Field("subtitle-loc-args", .texts, needs: "subtitle-loc-key"),
                Field("action-loc-key", .text),
                Field("launch-image", .text),
            ]),
        Schema(
            .localizedText, isOpen: true,
            [Field("loc-key", .text), Field("loc-args", .texts, needs: "loc-key")]),
        Schema(
            .sound, isOpen: true,
            [
                Field("critical", .flag),
                Field("name", .text, .notEmpty, isRequired: true),
                Field("volume", .number, .fraction),
            ]),
        Schema(
            .webNotification, isOpen: true,
            [
                Field("dir", .enumeration(.webDirection)),
                Field("title", .text), Field("body", .text), Field("icon", .text), Field("image", .text),
                Field("badge", .text), Field("lang", .text), Field("tag", .text),
                Field("renotify", .truth), Field("requireInteraction", .truth), Field("silent", .truth),
                Field("timestamp", .number),
            ]),
    ]
}
