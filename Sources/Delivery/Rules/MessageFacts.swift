/// What is remembered of a message for the rules that span several fields.
struct MessageFacts {
    /// Targets that are given and not null, in order.
    var targets: [(kind: TargetKind, string: JSONString)] = []

    /// Σ bytes(key) + bytes(value) of each data map; nil when there is none.
    var data: Int?
    var androidData: Int?
    var webData: Int?

    /// What `title`, `body` and `image` of `message.notification` count for.
    var notification = [0, 0, 0]
    /// What the fields of Android's notification count for, and which of the three above it replaces.
    var androidNotification = 0
    var androidReplaces = [false, false, false]

    var hasAndroid = false
    var hasAndroidV2 = false
    var hasNotification = false
    var hasImage = false
    var hasAppleImage = false
    var payloadLength = 0
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
}

extension MessageFacts {
    /// Remembers that a field is set.
    mutating func note(_ id: SchemaID, _ index: Int, _ name: String, length: Int) {
        switch id {
        case .message: noteMessage(name)
        case .notification:
            // The table of this type starts with title, body, image.
            if index < 3 { notification[index] = MessageChecker.notificationKeyPrefix + name.utf8.count + length }
            if name == "image" { hasImage = true }
        case .androidNotification, .androidNotificationV2:
            androidNotification += MessageChecker.notificationKeyPrefix + name.utf8.count + length
            switch name {
            case "title": androidReplaces[0] = true
            case "body": androidReplaces[1] = true
            case "image": androidReplaces[2] = true
            default: break
            }
        case .apnsConfig:
            if name == "payload" { payloadLength = length }
            if name == "live_activity_token" { hasLiveActivity = true }
        case .apnsFcmOptions: if name == "image" { hasAppleImage = true }
        case .apnsPayload: if name == "aps" { hasAps = true }
        case .aps: noteAps(name)
        default: break
        }
    }

    private mutating func noteMessage(_ name: String) {
        switch name {
        case "android": hasAndroid = true
        case "android_v2": hasAndroidV2 = true
        case "notification": hasNotification = true
        default: break
        }
    }

    private mutating func noteAps(_ name: String) {
        switch name {
        case "alert": hasAlert = true
        case "sound": hasSound = true
        case "badge": hasBadge = true
        case "content-available": isContentAvailable = true
        case "mutable-content": isMutable = true
        case "event": hasEvent = true
        case "timestamp": hasTimestamp = true
        default: break
        }
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
