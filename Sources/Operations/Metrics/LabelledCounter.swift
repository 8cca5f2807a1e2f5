/// A counter for each value of a label whose values come from outside: their number is bounded.
///
/// What is not a plain name of at most 64 bytes, and every new name after the first ``limit``, counts as `other`.
package struct LabelledCounter: Sendable {
    package static let other = "other"

    package let limit: Int
    package private(set) var values: [String: Int] = [:]

    package init(limit: Int = 100) { self.limit = limit }

    package var total: Int { values.values.reduce(0, +) }

    package mutating func add(_ count: Int = 1, for name: String) {
        if values[name] != nil || (values.count < limit && Self.isPlain(name)) {
            values[name, default: 0] += count
        } else {
            values[Self.other, default: 0] += count
        }
    }

    /// Letters, digits, `_`, `-` and `.`: never a message's text and never a whole device token, which is longer.
    private static func isPlain(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
