extension MessageChecker {
    /// The rules that span several parts of what is set for iOS.
    mutating func checkApple(_ bytes: Span<UInt8>) {
        if (seen.hasAppleImage || seen.image > 0) && !seen.isMutable {
            warn(
                "message.apns.payload.aps.mutable-content", "is not 1: iOS shows the notification without its image")
        }
        if seen.hasLiveActivity && !(seen.hasEvent && seen.hasTimestamp) {
            warn("message.apns.payload.aps", "has no event and timestamp, which a Live Activity needs")
        }
        guard let index = seen.pushType else { return checkSilentPush(bytes) }
        let type = PushHeader.pushTypes[index]
        if let topic = seen.topic, !topic.withContents(in: bytes, { ASCII.hasSuffix($0, type.topicSuffix) }) {
            let found = describe(topic, bytes, isSecret: false)
            fail(
                "message.apns.headers.apns-topic",
                "must end in \(type.topicSuffix) for push type \(type.name); found \(found)")
        }
        if type.name.description == "background" { checkBackground(bytes) }
    }

    /// A background push has priority 5, wakes the app, and shows nothing (Apple, "Pushing background updates").
    private mutating func checkBackground(_ bytes: Span<UInt8>) {
        if let priority = seen.priority {
            if !priority.withContents(in: bytes, { ASCII.equal($0, "5") }) {
                let found = describe(priority, bytes, isSecret: false)
                fail("message.apns.headers.apns-priority", "must be \"5\" for a background push; found \(found)")
            }
        } else {
            warn(
                "message.apns.headers.apns-priority", "is not set: FCM sends 10, and a background push must have 5")
        }
        if seen.hasAps {
            if seen.hasAlert || seen.hasSound || seen.hasBadge {
                let found = [(seen.hasAlert, "alert"), (seen.hasSound, "sound"), (seen.hasBadge, "badge")]
                    .filter(\.0).map(\.1)
                fail(
                    "message.apns.payload.aps",
                    "must have no alert, sound or badge in a background push; has " + found.joined(separator: ", "))
            }
            if !seen.isContentAvailable {
                fail("message.apns.payload.aps.content-available", "must be 1 in a background push")
            }
        }
        if seen.hasNotification {
            warn("message.notification", "is shown to people, and the APNs push type says background")
        }
    }

    /// "Only normal priority (apns-priority: 5) is allowed" for data alone (discovery document, `Message.data`).
    private mutating func checkSilentPush(_ bytes: Span<UInt8>) {
        guard let data = seen.data, data > 0, !seen.hasNotification, !seen.hasAlert, !seen.hasSound, !seen.hasBadge,
            !seen.hasLiveActivity, let priority = seen.priority,
            !priority.withContents(in: bytes, { ASCII.equal($0, "5") })
        else { return }
        let found = describe(priority, bytes, isSecret: false)
        fail("message.apns.headers.apns-priority", "must be \"5\" for data alone on iOS; found \(found)")
    }
}
