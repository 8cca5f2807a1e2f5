import Testing

@testable import Delivery

@Suite struct LocalTimeTests {
    /// UTC+1, UTC+2 from 2026-03-29T01:00Z, UTC+1 again from 2026-10-25T01:00Z; and one that leaves out 2011-12-30.
    private static let zones = TimeZones { zone, moment in
        let spring = 1_774_746_000
        let autumn = 1_792_890_000
        let skip = 1_325_239_200
        return switch zone {
        case "Europe" where moment < spring: ZoneStretch(offset: 3600, start: .min, end: spring)
        case "Europe" where moment < autumn: ZoneStretch(offset: 7200, start: spring, end: autumn)
        case "Europe": ZoneStretch(offset: 3600, start: autumn, end: .max)
        case "Apia" where moment < skip: ZoneStretch(offset: -36_000, start: .min, end: skip)
        case "Apia": ZoneStretch(offset: 50_400, start: skip, end: .max)
        case "UTC": ZoneStretch(offset: 0, start: .min, end: .max)
        default: nil
        }
    }

    private func at(_ text: String) throws -> Int {
        let moment = Moment.seconds(Array(text.utf8).span)
        return try #require(moment)
    }

    @Test(arguments: [
        ("09:00", "UTC", "2026-11-30T08:59:59Z", "2026-11-30T09:00:00Z"),
        ("09:00", "UTC", "2026-11-30T09:00:00Z", "2026-11-30T09:00:00Z"),
        ("09:00", "UTC", "2026-11-30T09:00:01Z", "2026-12-01T09:00:00Z"),
        ("00:00", "UTC", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
        ("09:00", "Europe", "2026-03-28T12:00:00Z", "2026-03-29T07:00:00Z"),
        ("09:00", "Europe", "2026-10-24T12:00:00Z", "2026-10-25T08:00:00Z"),
        // 02:30 is skipped on 29 March: 03:30 summer time.
        ("02:30", "Europe", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z"),
        ("02:30", "Europe", "2026-03-29T01:30:01Z", "2026-03-30T00:30:00Z"),
        // 02:30 comes twice on 25 October: the first.
        ("02:30", "Europe", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"),
        ("02:30", "Europe", "2026-10-25T00:30:01Z", "2026-10-26T01:30:00Z"),
        ("09:00", "Apia", "2011-12-30T08:00:00Z", "2011-12-30T19:00:00Z"),
        ("09:00:30", "UTC", "1969-12-31T00:00:00Z", "1969-12-31T09:00:30Z"),
    ])
    func `the next time that clocks show it`(_ time: String, _ zone: String, _ from: String, _ wanted: String) throws {
        var zones = Self.zones
        let time = try #require(LocalTime(time))
        #expect(try time.next(from: at(from), zone: zone, &zones) == at(wanted))
    }

    @Test func `a zone that does not exist has no time`() throws {
        var zones = Self.zones
        #expect(try #require(LocalTime("09:00")).next(from: 0, zone: "Mars", &zones) == nil)
    }

    @Test(arguments: ["9:00", "24:00", "09:60", "09", "09:00:60", "09:00:00:00", "ab:cd", "", "09:0０", "-1:00"])
    func `anything else is no time`(_ text: String) {
        #expect(LocalTime(text) == nil)
    }
}
