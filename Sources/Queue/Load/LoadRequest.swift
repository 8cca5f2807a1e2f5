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

    /// Wait while another run holds the notification, instead of giving up.
    package var waits: Bool
    /// Groups notifications, for people; kept from the first run.
    package var campaign: String?
    /// `at_least_once` or `at_most_once`; `nil` is what the app says.
    package var delivery: String?
    /// The provider checks the messages and delivers none.
    package var validateOnly: Bool

    package init(
        app: String, notificationID: String, templateDigest: String, definitionDigest: String, append: Bool = false,
        priority: Int = 5, expiresIn: Int? = nil, waits: Bool = false, campaign: String? = nil,
        delivery: String? = nil, validateOnly: Bool = false
    ) {
        self.app = app
        self.notificationID = notificationID
        self.templateDigest = templateDigest
        self.definitionDigest = definitionDigest
        self.append = append
        self.priority = priority
        self.expiresIn = expiresIn
        self.waits = waits
        self.campaign = campaign
        self.delivery = delivery
        self.validateOnly = validateOnly
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

    /// Rows that were left out: nobody is meant by them.
    package var skipped = 0

    package init(queued: Int = 0, alreadyQueued: Int = 0, rejected: Int = 0, skipped: Int = 0) {
        self.queued = queued
        self.alreadyQueued = alreadyQueued
        self.rejected = rejected
        self.skipped = skipped
    }

    mutating func add(_ other: LoadCounts) {
        queued += other.queued
        alreadyQueued += other.alreadyQueued
        rejected += other.rejected
        skipped += other.skipped
    }
}
