/// What names a message in every statement: the id with its partition's day, and the claim that fences its results.
package struct MessageKey: Hashable, Sendable {
    package let id: Int
    /// The partition's day, as Postgres writes dates: `2026-11-30`.
    package let day: Day
    /// Grows with every claim; a result counts only while it still matches.
    package let claimNumber: Int
    /// Whose message it is, for who counts results; no part of what names it.
    package let app: Int

    package init(id: Int, day: Day, claimNumber: Int, app: Int = 0) {
        self.id = id
        self.day = day
        self.claimNumber = claimNumber
        self.app = app
    }

    package static func == (left: MessageKey, right: MessageKey) -> Bool {
        left.id == right.id && left.day == right.day && left.claimNumber == right.claimNumber
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(day)
        hasher.combine(claimNumber)
    }
}

/// A partition's day.
///
/// Statements carry it as a literal, so that the planner sees one partition: only digits and dashes can get in.
package struct Day: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let description: String

    /// `nil` unless the text is `YYYY-MM-DD`.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10 else { return nil }
        for (index, byte) in bytes.enumerated() {
            let isDash = index == 4 || index == 7
            guard isDash ? byte == UInt8(ascii: "-") : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
                return nil
            }
        }
        description = text
    }

    package static func < (left: Day, right: Day) -> Bool { left.description < right.description }

    /// The literal for a statement's text.
    package var sql: String { "DATE '\(description)'" }
}
