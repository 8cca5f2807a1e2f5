import Testing

@testable import Delivery

@Suite("Templates: filters")
struct TemplateFilterTests {
    private func shown(_ placeholder: String, _ values: String...) throws -> String {
        let text = placeholder.replacing("\"", with: "\\\"")
        let template = try compiled(#"{"token":"t","data":{"v":"\#(text)"}}"#)
        var output: [UInt8] = []
        var desk = RenderingDesk(testZones)
        #expect(template.render(TemplateRow(values), &desk, into: &output) == nil)
        return try JSONValue.parse(output.span).at("data.v")?.stringValue ?? "-"
    }

    @Test(
        "A value is changed as the filters say, in their order",
        arguments: [
            (#"{{v|default:"there"}}"#, "", "there"), (#"{{v|default:"there"}}"#, "Ann", "Ann"),
            (#"Hi {{ v | default : 'you' }}!"#, "", "Hi you!"), (#"{{v|default:"a|b: c"}}"#, "", "a|b: c"),
            ("{{v|upper}}", "straße é", "STRASSE É"), ("{{v|lower}}", "ÀB", "àb"),
            (#"{{v|default:"x"|upper}}"#, "", "X"), (#"{{v|upper|default:"x"}}"#, "", "x"),
            ("{{v|truncate:5}}", "12345", "12345"), ("{{v|truncate:5}}", "123456", "1234…"),
            ("{{v|truncate:5}}", "123 56", "123…"), ("{{v|truncate:1}}", "ab", "…"),
            ("{{v|truncate:3}}", "👨‍👩‍👧‍👦👩‍🍳🇯🇵", "👨‍👩‍👧‍👦👩‍🍳🇯🇵"), ("{{v|truncate:2}}", "👨‍👩‍👧‍👦👩‍🍳🇯🇵", "👨‍👩‍👧‍👦…"),
            ("{{v|truncate:4}}", "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", "e\u{301}e\u{301}e\u{301}…"),
            ("{{v|url-encode}}", "a b/ü?&~", "a%20b%2F%C3%BC%3F%26~"), ("{{v|omit}}", "here", "here"),
        ])
    func changes(_ placeholder: String, _ value: String, _ wanted: String) throws {
        #expect(try Array(shown(placeholder, value).utf8) == Array(wanted.utf8))
    }

    @Test(
        "A moment is written as the clocks of a zone show it",
        arguments: [
            (#"{{v|date:"%Y-%m-%d %H:%M:%S"}}"#, "2026-11-30T09:05:07Z", "2026-11-30 09:05:07"),
            (#"{{v|date:"%A, %-d %B %Y, %-I:%M %p"}}"#, "2026-11-30 21:05:07+09", "Monday, 30 November 2026, 12:05 PM"),
            (#"{{v|date:"%a %b %y %I %-H %%"}}"#, "2024-02-29T00:00:00.123456+00:00", "Thu Feb 24 12 0 %"),
            (#"{{v|date:"%H:%M":"Test/Summer"}}"#, "2026-03-29 00:59:59+00", "01:59"),
            (#"{{v|date:"%H:%M":"Test/Summer"}}"#, "2026-03-29 01:00:00+00", "03:00"),
            (#"{{v|date:"%d.%m.":"Test/Summer"}}"#, "2026-12-31T23:00:00Z", "01.01."),
            (#"{{v|date:"%H:%M"}}"#, "1796032800", "10:00"), (#"{{v|date:"%H:%M"}}"#, "2026-11-30", "00:00"),
            (#"{{v|date:"%H:%M"}}"#, "2026-11-30T10:00-0330", "13:30"), (#"{{v|date:"%H:%M"}}"#, "", ""),
            (#"{{v|date:"%H"|default:"soon"}}"#, "", "soon"), (#"{{v|date:"%Y"}}"#, "1969-12-31T23:59:59Z", "1969"),
        ])
    func dates(_ placeholder: String, _ value: String, _ wanted: String) throws {
        #expect(try shown(placeholder, value) == wanted)
    }

    @Test("The zone may be a column's")
    func zoneOfTheRow() throws {
        #expect(try shown(#"{{v|date:"%H":zone}}"#, "2026-07-01T10:00:00Z", "Test/Summer") == "12")
        let template = try compiled(#"{"token":"t","data":{"v":"{{v|date:\"%H\":zone}}"}}"#)
        #expect(template.columns.map(\.name) == ["v", "zone"])
        #expect(fault(template, "2026-07-01T10:00:00Z", "Mars")?.reason.contains("no time zone") == true)
        #expect(try compiled(#"{"token":"t","data":{"v":"{{v|date:\"%H\":\"Mars\"}}"}}"#).zones == ["Mars"])
    }

    @Test("A number alone in its string is a JSON number")
    func numbers() throws {
        let template = try compiled(
            #"{"token":"t","apns":{"payload":{"aps":{"badge":"{{badge|default:\"0\"|number}}"}}}}"#)
        #expect(try message(template, "3").at("apns.payload.aps.badge") == .number("3"))
        #expect(try message(template, " 1.5e3 ").at("apns.payload.aps.badge") == .number("1.5e3"))
        #expect(try message(template, "").at("apns.payload.aps.badge") == .number("0"))
        for value in ["three", "1 2", "+1", "0x1", "NaN", "1]", "\"1\""] {
            #expect(fault(template, value) == TemplateFault(column: "badge", reason: "number needs a number"))
        }
        #expect(template.issues().isEmpty)
    }

    @Test("A field with omit is left out where it is empty")
    func omitted() throws {
        let template = try compiled(
            #"{"token":"t","notification":{"body":"{{b|omit}}","title":"{{t|omit|upper}}"},"apns":{"payload":{"aps":{"badge":"{{n|omit|number}}"}}}}"#
                .replacing("omit|number", with: "number|omit"))
        let full = try message(template, "B", "t", "7")
        #expect(full.at("notification.body") == .string("B") && full.at("notification.title") == .string("T"))
        let empty = try message(template, "", "", "")
        #expect(empty.at("notification.body") == nil && empty.at("notification.title") == nil)
        #expect(empty.at("apns.payload.aps.badge") == nil)
        #expect(try message(template, "", "t", "").at("notification.title") == .string("T"))
    }

    @Test("An image with a default is never left out")
    func imageWithDefault() throws {
        let template = try compiled(
            #"{"token":"t","notification":{"title":"x","image":"{{i|default:\"https://a.example/d.jpg\"}}"}}"#)
        #expect(try message(template, "").at("apns.payload.aps.mutable-content") == .number("1"))
        #expect(
            try message(template, "").at("android.notification.image") == .string("https://a.example/d.jpg"))
    }

    @Test(
        "What is no filter is told with its remedy",
        arguments: [
            "{{v|}}", "{{v|shout}}", "{{v|upper:2}}", "{{v|default}}", "{{v|default:x}}", "{{v|default:\"a\":\"b\"}}",
            "{{v|default:\"a\" b}}", "{{v|truncate}}", "{{v|truncate:0}}", "{{v|truncate:many}}",
            "{{v|truncate:\"3\"}}",
            "{{v|date}}", "{{v|date:\"\"}}", "{{v|date:\"%Q\"}}", "{{v|date:\"%\"}}", "{{v|date:\"%-B\"}}",
            "{{v|date:\"%H\":a:b}}", "{{v|date:\"%H\":}}", "{{v|number|upper}}", "a{{v|number}}", "{{|upper}}",
            "{{v|default:'x}}",
        ])
    func faults(_ placeholder: String) {
        do throws(TemplateError) {
            _ = try compiled(#"{"token":"t","data":{"v":"\#(placeholder.replacing("\"", with: "\\\""))"}}"#)
            Issue.record("it was taken")
        } catch {
            #expect(!error.remedy.isEmpty && !error.reason.isEmpty)
        }
        #expect(throws: TemplateError.self) {
            try compiled(#"{"token":"t","android":{"notification":{"body_loc_args":["{{v|omit}}"]}}}"#)
        }
    }

    @Test(
        "What is no moment is none",
        arguments: [
            "2026-13-01", "2026-02-29", "2026-00-10", "2026-11-31", "2026-11-30T24:00", "2026-11-30T10:60",
            "2026-11-30T10:00:61", "2026-11-30T10:00:00.", "2026-11-30T10:00 +09", "2026-11-30T10:00+9", "30.11.2026",
            "x",
            "2026-11-30T", "9999999999999", "-1", "2026-11-30T10:00:00Zx",
        ])
    func noMoment(_ text: String) {
        let moment = Moment.seconds(Array(text.utf8).span)
        #expect(moment == nil)
    }
}
