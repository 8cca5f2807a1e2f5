import Testing

@testable import Delivery

@Suite("Templates: compiling and rendering")
struct TemplateTests {
    @Test(
        "A value arrives as it is in the data",
        arguments: [
            "plain", "", "\"quoted\"", "back\\slash", "line\nbreak\r\n", "tab\t", "\u{2028}\u{2029}", "👩‍🍳 👨‍👩‍👧‍👦",
            "e\u{301}\u{323}", "مرحبا \u{202E}abc", "𝄞𠮷", "{{token}}", "}}", "\u{1}\u{1F}\u{7F}", "</script>",
        ])
    func value(_ value: String) throws {
        let template = try compiled(#"{"token":"{{t}}","data":{"v":"<{{v}}>"}}"#)
        let tree = try message(template, "abc", value)
        #expect(Array(try #require(tree.at("data.v")?.stringValue).utf8) == Array("<\(value)>".utf8))
    }

    @Test("A byte order mark before the template is no part of it")
    func byteOrderMark() throws {
        #expect(rendered(try compiled("\u{FEFF}{\"token\":\"{{t}}\"}"), "x").hasPrefix("{\"token\":\"x\""))
        #expect(try compiled("\u{FEFF}{\"token\":\"{{t}}\"}").columns.first?.position?.column == 11)
    }

    @Test("Columns are numbered in the order of their first use, white space in the braces does not count")
    func columns() throws {
        let template = try compiled("{\"token\": \"{{ b }}\",\n  \"data\": {\"x\": \"{{a}}-{{b}}-{{  a }}\"}}")
        #expect(template.columns.map(\.name) == ["b", "a"])
        #expect(template.columns[0].position == TemplatePosition(line: 1, column: 12))
        #expect(template.columns[1].position == TemplatePosition(line: 2, column: 18))
        #expect(try message(template, "B", "A").at("data.x") == .string("A-B-A"))
    }

    @Test("The binding says which field of the row is which column")
    func binding() throws {
        var template = try compiled(#"{"token":"{{t}}","data":{"x":"{{x}}"}}"#)
        template.binding = [2, 0]
        #expect(try message(template, "X", "unused", "T").at("token") == .string("T"))
    }

    @Test("Numbers, booleans and lists stay as they are written")
    func otherValues() throws {
        let template = try compiled(
            #"{"token":"t","android":{"notification":{"sticky":true,"body_loc_args":["{{a}}","b"]}},"apns":{"payload":{"aps":{"badge":1.50,"x":null}}}}"#
        )
        let tree = try message(template, "A")
        #expect(tree.at("android.notification.sticky") == .boolean(true))
        #expect(tree.at("android.notification.body_loc_args") == .array([.string("A"), .string("b")]))
        #expect(tree.at("apns.payload.aps.badge") == .number("1.50"))
        #expect(tree.at("apns.payload.aps.x") == .null)
    }

    @Test("A template without placeholders is one piece of bytes")
    func constant() throws {
        let template = try compiled(#"{"topic":"news"}"#)
        #expect(rendered(template) == #"{"topic":"news","data":{"notification_id":"n1"}}"#)
    }

    @Test(
        "Faults of the text name their place",
        arguments: [
            ("{\"token\": \"{{t\"}", "line 1 column 12", "has no }}"),
            ("{\"token\": \"a\",\n \"data\": {\"x\": \"äb {{x\"}}", "line 2 column 20", "has no }}"),
            ("{\"token\": \"{{}}\"}", "line 1 column 12", "names no column"),
            ("{\"token\": \"{{   }}\"}", "line 1 column 12", "names no column"),
            ("{\"token\": \"{{t|shout}}\"}", "line 1 column 12", "no filter \"shout\""),
            ("{\"token\": \"{{t|default:\\\"x}}\"}", "line 1 column 12", "quote"),
            ("{\"token\": \"{{ {{t}} }}\"}", "line 1 column 12", "braces"),
            ("{\n\"{{k}}\": 1}", "line 2 column 2", "in a key"),
            ("{\"data\": {\"{{k}}\" : \"1\"}}", "line 1 column 12", "in a key"),
            ("{\"token\": {{t}}}", "line 1 column 12", "not JSON"),
            ("{\"token\": \"t\",}", "line 1 column 15", "not JSON"),
            ("", "line 1 column 1", "not JSON"),
        ])
    func faults(_ text: String, _ place: String, _ reason: String) {
        #expect {
            try compiled(text)
        } throws: { error in
            guard let error = error as? TemplateError else { return false }
            return error.position?.description == place && error.reason.contains(reason)
        }
    }

    @Test(
        "Faults without a place",
        arguments: [
            ("[]", "not a JSON object"), (#"{"message":{"token":"t"}}"#, "wrapped"),
            (#"{"token":"t","data":{"notification_id":"other"}}"#, "data.notification_id"),
            (#"{"token":"t","android":{"data":{"notification_id":"{{x}}"}}}"#, "android.data.notification_id"),
        ])
    func otherFaults(_ text: String, _ reason: String) {
        #expect {
            try compiled(text)
        } throws: { ($0 as? TemplateError)?.reason.contains(reason) == true }
    }
}
