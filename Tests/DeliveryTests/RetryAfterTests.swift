import Testing

@testable import Delivery

@Suite struct RetryAfterTests {
    /// 1994-11-06 08:49:37 UTC, the example of RFC 9110.
    static let example = 784_111_777

    @Test(
        arguments: [
            ("0", 0), ("120", 120), (" 5 ", 5), ("\t7", 7), ("-1", 0), ("-99999999999999999999", 0), ("007", 7),
            ("99999999999999999999999", 31_536_000), ("31536001", 31_536_000),
            ("", nil), (" ", nil), ("-", nil), ("--1", nil), ("+5", nil), ("1.5", nil), ("1e3", nil), ("30s", nil),
            ("30, 60", nil), ("soon", nil), ("٣", nil), ("0x10", nil),
        ] as [(String, Int?)])
    func `seconds`(_ value: String, _ seconds: Int?) {
        #expect(RetryAfter.seconds(value, now: Self.example) == seconds)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        " Sun, 06 Nov 1994 08:49:37 GMT ",
    ])
    func `the three forms of a date`(_ value: String) {
        #expect(HTTPDate.secondsSince1970(value, now: Self.example) == Self.example)
        #expect(RetryAfter.seconds(value, now: Self.example - 90) == 90)
        #expect(RetryAfter.seconds(value, now: Self.example + 90) == 0)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 946_684_799), ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
    ])
    func `the calendar`(_ value: String, _ seconds: Int) {
        #expect(HTTPDate.secondsSince1970(value) == seconds)
    }

    @Test(arguments: [
        "Thu, 29 Feb 2023 12:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 JST", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT", "06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "Sun Nov 31 08:49:37 1994",
        ", , , , ,", "Sunday, -- 08:49:37 GMT",
    ])
    func `what is no date is not guessed at`(_ value: String) {
        #expect(RetryAfter.seconds(value, now: Self.example) == nil)
    }

    @Test func `a year of two digits is at most fifty years ahead`() {
        let now = 1_790_000_000
        #expect(RetryAfter.seconds("Sunday, 06-Nov-94 08:49:37 GMT", now: now) == 0)
        #expect(RetryAfter.seconds("Monday, 21-Sep-26 15:00:00 GMT", now: now) == 2800)
    }

    @Test func `the server's own clock is the one its date belongs to`() {
        let answer = ProviderAnswer(
            status: 503, retryAfter: "Sun, 06 Nov 1994 08:50:37 GMT", date: "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(Verdict.fcm(answer, now: 5).retryAfterSeconds == 60)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `the answer's own clock counts in every form`(_ date: String) {
        for header in [
            "Sun, 06 Nov 1994 08:50:07 GMT", "Sunday, 06-Nov-94 08:50:07 GMT", "Sun Nov  6 08:50:07 1994",
        ] {
            // Our clock is days off.
            for now in [Self.example - 300_000, Self.example + 300_000] {
                let answer = ProviderAnswer(status: 503, retryAfter: header, date: date)
                #expect(Verdict.fcm(answer, now: now).retryAfterSeconds == 30)
            }
        }
        let unclear = ProviderAnswer(status: 503, retryAfter: date, date: "today")
        #expect(Verdict.fcm(unclear, now: Self.example - 7).retryAfterSeconds == 7)
        let past = ProviderAnswer(status: 503, retryAfter: date, date: "Mon, 07 Nov 1994 08:49:37 GMT")
        #expect(Verdict.fcm(past, now: 0).retryAfterSeconds == 0)
    }

    @Test(arguments: [
        ("Monday, 30-Nov-26 08:00:00 GMT", "Mon, 30 Nov 2026 08:01:00 GMT", 60),
        ("Mon, 30 Nov 2026 08:00:00 GMT", "Monday, 30-Nov-26 08:01:00 GMT", 60),
    ])
    func `a year of two digits is one of ours`(_ date: String, _ retryAfter: String, _ seconds: Int) {
        let answer = ProviderAnswer(status: 503, retryAfter: retryAfter, date: date)
        #expect(Verdict.fcm(answer, now: 1_796_025_600).retryAfterSeconds == seconds)
    }
}
