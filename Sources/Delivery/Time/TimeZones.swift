/// A stretch of time in which the clocks of a zone keep one distance from UTC.
package struct ZoneStretch: Equatable, Sendable {
    /// Seconds east of UTC.
    package let offset: Int
    /// Seconds since 1970: the first of it, and the first after it.
    package let start: Int
    package let end: Int

    package init(offset: Int, start: Int, end: Int) {
        self.offset = offset
        self.start = start
        self.end = end
    }
}

/// The clocks of the world's zones, each looked up once where its next change is far.
///
/// The rules come from whoever makes it: the core reads no files.
package struct TimeZones: Sendable {
    /// The stretch that a moment, in seconds since 1970, is in; `nil` for a zone that does not exist.
    package typealias Lookup = @Sendable (_ zone: String, _ moment: Int) -> ZoneStretch?

    private let lookup: Lookup
    private var known: [String: ZoneStretch?] = [:]

    /// Far more than there are zones: beyond it names come from an audience without any order.
    private static let most = 2_000

    /// Bytes: the longest name of the IANA database has 32.
    package static let longestName = 64

    package init(_ lookup: @escaping Lookup) { self.lookup = lookup }

    /// Only UTC.
    package static var none: TimeZones {
        TimeZones { zone, _ in zone == "UTC" ? ZoneStretch(offset: 0, start: .min, end: .max) : nil }
    }

    /// Seconds east of UTC at this moment; `nil` for a zone that does not exist.
    package mutating func offset(_ zone: String, at moment: Int) -> Int? {
        if let found = known[zone] {
            guard let stretch = found else { return nil }
            if moment >= stretch.start && moment < stretch.end { return stretch.offset }
        }
        guard zone.utf8.count <= Self.longestName else { return nil }
        if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
        let stretch = lookup(zone, moment)
        known[zone] = .some(stretch)
        return stretch?.offset
    }
}
