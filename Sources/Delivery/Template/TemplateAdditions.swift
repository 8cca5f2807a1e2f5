/// What every message gets beside what its template says.
package struct TemplateAdditions: Sendable {
    /// Written as `data.notification_id`, so that the app can report opens.
    package var notificationID: String
    /// The default of `android.notification.tag` and `apns-collapse-id`: at most 64 bytes, the same for one notification,
    /// so that a device shows a message that arrives twice only once.
    package var collapseID: String
    /// Text of a picture's URL, with placeholders; `nil` takes the one in the template, if any.
    package var image: String?
    /// Seconds from due to expired; `nil` for a message that does not expire.
    package var expiresIn: Int?

    package init(notificationID: String, collapseID: String, image: String? = nil, expiresIn: Int? = nil) {
        self.notificationID = notificationID
        self.collapseID = collapseID
        self.image = image
        self.expiresIn = expiresIn
    }

    /// The longest life FCM gives a message: four weeks, in seconds.
    package static let longestTTL = 2_419_200
}

extension TemplateObject {
    /// Completes a message; what the template sets itself stays, in either spelling.
    mutating func add(_ additions: TemplateAdditions) throws(TemplateError) {
        try addNotificationID(additions.notificationID)
        let usesV2 = self["android_v2"] != nil
        let android = usesV2 ? "android_v2" : "android"
        let androidNotification =
            usesV2 ? [android, "remote_notification", "notification"] : [android, "notification"]
        let showsOnAndroid = self["notification"] != nil || object(at: androidNotification) != nil
        // android_v2 is either a notification or a background sync.
        let takesNotification = !(usesV2 && object(at: [android, "background_sync"]) != nil)
        let reachesApple = self["notification"] != nil || self["apns"] != nil

        if showsOnAndroid && takesNotification {
            try modify(androidNotification) { (notification) throws(TemplateError) in
                if notification["tag"] == nil {
                    notification.set("tag", .text(TemplateText(constant: additions.collapseID)))
                }
            }
        }
        if reachesApple && self.object(at: ["apns"])?["live_activity_token"] == nil {
            try modify(["apns", "headers"]) { (headers) throws(TemplateError) in
                if headers.header("apns-collapse-id") == nil {
                    headers.set("apns-collapse-id", .text(TemplateText(constant: additions.collapseID)))
                }
            }
        }
        if let seconds = additions.expiresIn {
            try addExpiry(seconds, android: android, apple: reachesApple)
        }
        try addImage(additions.image, androidNotification: takesNotification ? androidNotification : nil)
    }

    private mutating func addNotificationID(_ id: String) throws(TemplateError) {
        // A platform's data replaces the message's, so the id has to be in each.
        var paths = [["data"]]
        for platform in ["android", "android_v2", "webpush"] where object(at: [platform, "data"]) != nil {
            paths.append([platform, "data"])
        }
        for path in paths {
            try modify(path) { (data) throws(TemplateError) in
                if let own = data.members.first(where: { $0.key == "notification_id" }), own.value.text?.constant != id
                {
                    throw TemplateError(
                        "\(path.joined(separator: ".")).notification_id is in the template",
                        remedy: "leave it out: it is always set to --notification-id")
                }
                // Data keys are the app's own: no second spelling here.
                data.members.removeAll { $0.key == "notification_id" }
                data.members.append(.init(key: "notification_id", value: .text(TemplateText(constant: id))))
            }
        }
    }

    private mutating func addExpiry(_ seconds: Int, android: String, apple: Bool) throws(TemplateError) {
        let life = min(seconds, TemplateAdditions.longestTTL)
        try modify([android]) { (config) throws(TemplateError) in
            switch config["ttl"] {
            case nil: config.set("ttl", .text(TemplateText(constant: "\(life)s")))
            case .text(let text)?:
                // A ttl with a placeholder is lowered row by row, when its value is known.
                if let constant = text.constant, let own = Int(constant.prefix { $0 >= "0" && $0 <= "9" }), own > life {
                    config.set("ttl", .text(TemplateText(constant: "\(life)s")))
                }
            default: break
            }
        }
        guard apple else { return }
        try modify(["apns", "headers"]) { (headers) throws(TemplateError) in
            switch headers.header("apns-expiration") {
            case nil: headers.set("apns-expiration", .expiration)
            case .text(let text)? where text.constant == "0": break
            default:
                throw TemplateError(
                    "apns.headers.apns-expiration is in the template and --expires-in is given",
                    remedy: "leave one of them out")
            }
        }
    }

    private func header(_ name: String) -> TemplateNode? {
        members.first { $0.key.lowercased() == name && !$0.value.isNull }?.value
    }
}
