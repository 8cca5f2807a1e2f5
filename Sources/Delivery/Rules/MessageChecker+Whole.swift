extension MessageChecker {
    /// The most a message may hold, and the most it may hold for a topic.
    ///
    /// The error page says 2048 bytes for topics, the message types page 4096 for all: the smaller one is safe.
    static let mostBytes = 4096
    static let mostBytesForTopic = 2048

    /// What FCM puts before each key of a notification when it counts (`gcm.notification.`).
    static let notificationKeyPrefix = 17

    /// The rules that span several fields.
    mutating func checkWhole(_ bytes: Span<UInt8>) {
        checkTarget(bytes)
        if seen.hasAndroid && seen.hasAndroidV2 {
            fail("must not be set together with android", at: Self.field("android_v2"), bytes)
        }
        checkSizes(bytes)
        checkApple(bytes)
        checkHabits(bytes)
    }

    private static func field(_ name: String) -> Step? {
        Schema.all[SchemaID.message.rawValue].index(named: name).map { .field(.message, $0) }
    }

    private mutating func checkTarget(_ bytes: Span<UInt8>) {
        let allowed = "must have exactly one of token, fid, topic, condition"
        switch seen.targets.count {
        case 0 where seen.hasMistypedTarget: break
        case 0: fail("\(allowed); has none", bytes)
        case 1:
            let (kind, string) = seen.targets[0]
            if string.length > 0 { report.target = MessageTarget(kind: kind, value: string.text(in: bytes)) }
        default: fail("\(allowed); has " + seen.targets.map(\.kind.rawValue).joined(separator: ", "), bytes)
        }
    }

    private mutating func checkSizes(_ bytes: Span<UInt8>) {
        let isForTopic = seen.targets.contains { $0.kind == .topic || $0.kind == .condition }
        let most = isForTopic ? Self.mostBytesForTopic : Self.mostBytes
        let notification = seen.title + seen.body + seen.image
        let data = seen.data ?? 0
        let how = isForTopic ? " for a topic" : ""
        // What iOS gets, and every platform that is not given something of its own.
        if data + notification > most {
            fail("data and notification must take at most \(most) bytes\(how), take \(data + notification)", bytes)
        }
        if seen.hasAndroid || seen.hasAndroidV2 {
            let kept =
                (seen.androidTitle ? 0 : seen.title) + (seen.androidBody ? 0 : seen.body)
                + (seen.androidImage ? 0 : seen.image)
            let android = (seen.androidData ?? data) + seen.androidNotification + kept
            if android > most && android != data + notification {
                let name = seen.hasAndroid ? "android" : "android_v2"
                fail(
                    "data and notification must take at most \(most) bytes\(how), take \(android)",
                    at: Self.field(name), bytes)
            }
        }
        if let web = seen.webData, web > most {
            fail("message.webpush.data", "must take at most \(most) bytes\(how), takes \(web)")
        }
        // What push services have to take (RFC 8030, section 7.2).
        if seen.webNotificationLength > Self.mostBytes {
            fail(
                "message.webpush.notification",
                "must take at most \(Self.mostBytes) bytes without white space, takes \(seen.webNotificationLength)")
        }
        if seen.payloadLength > Self.mostBytes {
            fail(
                "message.apns.payload",
                "must take at most \(Self.mostBytes) bytes without white space, takes \(seen.payloadLength)")
        }
    }
}
