/// A message that this sender holds: what it needs to post it and to record what came of it.
///
/// An object, since it goes from hand to hand and never changes.
package final class ClaimedMessage: Sendable {
    package let key: MessageKey
    package let app: Int
    /// Posts with a known outcome so far, this one not counted.
    package let attempts: Int
    /// Life left by the database's clock at the claim, or `nil` when it does not expire.
    package let expiresInMilliseconds: Int?
    /// Since it was first due, by the database's clock; once an attempt has failed, since that was recorded.
    package let ageInMilliseconds: Int
    /// When it was claimed by the database's clock, in microseconds since 2000.
    package let claimedAt: Int
    /// An unknown outcome ends it as failed instead of sending it again.
    package let isAtMostOnce: Bool
    /// The provider only checks it and delivers nothing.
    package let isValidateOnly: Bool
    /// Where the android ttl's whole seconds stand in the payload, when the message expires.
    package let ttlDigits: Range<Int>?
    /// The FCM `message` object, byte for byte as queued.
    package let payload: [UInt8]

    package init(
        key: MessageKey, app: Int, attempts: Int, expiresInMilliseconds: Int?, ageInMilliseconds: Int = 0,
        claimedAt: Int = 0, isAtMostOnce: Bool, isValidateOnly: Bool = false, ttlDigits: Range<Int>?, payload: [UInt8]
    ) {
        self.key = key
        self.app = app
        self.attempts = attempts
        self.expiresInMilliseconds = expiresInMilliseconds
        self.ageInMilliseconds = ageInMilliseconds
        self.claimedAt = claimedAt
        self.isAtMostOnce = isAtMostOnce
        self.isValidateOnly = isValidateOnly
        self.ttlDigits = ttlDigits
        self.payload = payload
    }
}
