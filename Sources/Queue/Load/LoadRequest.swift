/// What a producer run wants to load.
package struct LoadRequest: Sendable {
    package var app: String
    package var notificationID: String
    /// Digest of the template's text; compared with that of the run that began the notification.
    package var templateDigest: String
    /// Digest of the audience's definition and of the options that change payloads; compared likewise.
    package var definitionDigest: String
    /// Add to a notification that was begun with another template or audience.
    package var append: Bool
    /// 0 to 9, 9 goes first.
    package var priority: Int
    /// Seconds from due to expired; `nil` for messages that do not expire.
    package var expiresIn: Int?

    package init(
        app: String, notificationID: String, templateDigest: String, definitionDigest: String, append: Bool = false,
        priority: Int = 5, expiresIn: Int? = nil
    ) {
        self.app = app
        self.notificationID = notificationID
        self.templateDigest = templateDigest
        self.definitionDigest = definitionDigest
        self.append = append
        self.priority = priority
        self.expiresIn = expiresIn
    }
}

/// How many rows became what.
package struct LoadCounts: Equatable, Sendable {
    /// Messages that are in the queue now and were not before.
    package var queued = 0
    /// Rows whose target has a message of this notification already.
    package var alreadyQueued = 0
    /// Rows that were refused.
    package var rejected = 0

    package init(queued: Int = 0, alreadyQueued: Int = 0, rejected: Int = 0) {
        self.queued = queued
        self.alreadyQueued = alreadyQueued
        self.rejected = rejected
    }
}
