/// What is waited for on a descriptor, and what it turned out to be ready for.
package struct Interest: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let read = Interest(rawValue: 1)
    package static let write = Interest(rawValue: 2)
    /// The other side will send no more, whether or not all it sent has been read.
    package static let end = Interest(rawValue: 4)
}
