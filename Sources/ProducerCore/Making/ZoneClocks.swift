import Delivery
import FoundationEssentials
import FoundationInternationalization

/// The clocks of the IANA database's zones, as the toolchain's own library knows them.
enum ZoneClocks {
    /// The stretch that a moment, in seconds since 1970, is in; `nil` for a zone that does not exist.
    static func stretch(_ name: String, _ moment: Int) -> ZoneStretch? {
        guard let zone = TimeZone(identifier: name) else { return nil }
        let date = Date(timeIntervalSince1970: Double(moment))
        let next = zone.nextDaylightSavingTimeTransition(after: date)
        return ZoneStretch(
            offset: zone.secondsFromGMT(for: date), start: moment,
            end: next.map { Int($0.timeIntervalSince1970) } ?? .max)
    }
}
