/// What is remembered of a message for the rules that span several fields.
struct MessageFacts {
    /// Where the message is in the bytes.
    var message: Range<Int>?
    var isValidateOnly = false

    /// Targets that are given and not null, in order.
    var targets: [(kind: TargetKind, string: JSONString)] = []
    /// Whether one is given that is no string at all, which has been reported.
    var hasMistypedTarget = false

    /// Σ bytes(key) + bytes(value) of each data map; nil when there is none.
    var data: Int?
    var androidData: Int?
    var webData: Int?

    /// What the fields of `message.notification` count for; 0 when unset.
    var title = 0
    var body = 0
    var image = 0
    /// What the fields of Android's notification count for, and which of the three above it replaces.
    var androidNotification = 0
    var androidTitle = false
    var androidBody = false
    var androidImage = false

    var hasAndroid = false
    var hasAndroidV2 = false
    var hasNotification = false
    var hasAppleImage = false
    var payloadLength = 0
    /// Bytes of the free JSON for browsers, without white space.
    var webNotificationLength = 0
    /// Whole seconds of the Android time to live; nil when it is not set.
    var timeToLive: Int?
    var hasCollapseKey = false
    var hasAps = false
    var hasAlert = false
    var hasSound = false
    var hasBadge = false
    var isContentAvailable = false
    var isMutable = false
    var hasLiveActivity = false
    var hasEvent = false
    var hasTimestamp = false

    /// Index into `PushHeader.pushTypes`.
    var pushType: Int?
    var priority: JSONString?
    var topic: JSONString?
    /// The APNs headers with rules of their own that were met, by `PushHeader.APNs.bit`.
    var appleHeaders: UInt8 = 0
}

extension MessageFacts {
    /// Remembers that a field is set.
    mutating func note(_ fact: MessageFact, _ length: Int) {
        switch fact {
        case .validateOnly: isValidateOnly = length == "true".utf8.count
        case .android: hasAndroid = true
        case .androidV2: hasAndroidV2 = true
        case .notification: hasNotification = true
        case .title: title = length + MessageChecker.notificationKeyPrefix + 5
        case .body: body = length + MessageChecker.notificationKeyPrefix + 4
        case .image: image = length + MessageChecker.notificationKeyPrefix + 5
        case .androidTitle: androidTitle = true
        case .androidBody: androidBody = true
        case .androidImage: androidImage = true
        case .payload: payloadLength = length
        case .webNotification: webNotificationLength = length
        case .collapseKey: hasCollapseKey = true
        case .liveActivity: hasLiveActivity = true
        case .appleImage: hasAppleImage = true
        case .aps: hasAps = true
        case .alert: hasAlert = true
        case .sound: hasSound = true
        case .badge: hasBadge = true
        case .contentAvailable: isContentAvailable = true
        case .mutableContent: isMutable = true
        case .event: hasEvent = true
        case .timestamp: hasTimestamp = true
        }
    }

    /// Adds up what the fields of Android's notification count for.
    mutating func weigh(_ id: SchemaID, _ field: Field, _ length: Int) {
        guard id == .androidNotification || id == .androidNotificationV2 else { return }
        androidNotification += MessageChecker.notificationKeyPrefix + field.staticName.utf8CodeUnitCount + length
    }

    /// Remembers the size of a data map by the message that holds it.
    mutating func noteData(_ owner: SchemaID, _ size: Int) {
        switch owner {
        case .androidConfig, .androidConfigV2: androidData = size
        case .webpushConfig: webData = size
        default: data = size
        }
    }
}

/// A field whose being set matters to a rule that spans several fields.
enum MessageFact: Sendable {
    case validateOnly, android, androidV2, notification
    case title, body, image
    case androidTitle, androidBody, androidImage
    case payload, liveActivity, appleImage, webNotification, collapseKey
    case aps, alert, sound, badge, contentAvailable, mutableContent, event, timestamp
}
