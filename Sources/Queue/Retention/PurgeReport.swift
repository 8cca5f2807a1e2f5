/// What a purge did, and what it left.
package struct PurgeReport: Equatable, Sendable {
    /// A day that was dropped.
    package struct Dropped: Equatable, Sendable {
        package let day: Day
        package let bytes: Int
        /// From the first DETACH to the last DROP.
        package let milliseconds: Int
    }

    /// A day that is old enough and stays all the same.
    package struct Kept: Equatable, Sendable {
        package let day: Day
        /// One clause, such as `12 messages are not at their end`.
        package let why: String
        /// The first of the notifications that keep it.
        package var notifications: [Held] = []
    }

    package var settled = 0
    package var dropped: [Dropped] = []
    package var kept: [Kept] = []
    /// Events deleted for their age; their numbers stay.
    package var events = 0
    /// What stopped the purge before its end, and who: `nil` when nothing did.
    package var blocked: String?
}
