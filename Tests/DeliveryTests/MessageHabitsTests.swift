import Testing

@testable import Delivery

/// What is allowed and probably not meant, and the errors that name one field among several.
@Suite struct MessageHabitsTests {
    static func warnings(_ fields: String, expiresIn: Int? = nil) -> [String] {
        MessageRules.check(Array("{\(fields)}".utf8).span, expiresIn: expiresIn).warnings.map(\.field)
    }

    @Test func `a plain message has no warnings`() {
        let message = #""token":"c:APA91b","notification":{"title":"a"},"data":{"k":"v"},"android":{"ttl":"60s"}"#
        #expect(Self.warnings(message).isEmpty)
    }

    @Test(arguments: [(nil, false), (60, false), (59, true), (0, true)] as [(Int?, Bool)])
    func `a time to live beyond the expiry`(_ expiresIn: Int?, _ isWarned: Bool) {
        let found = Self.warnings(#""topic":"a","android":{"ttl":"60.5s"}"#, expiresIn: expiresIn)
        #expect(found == (isWarned ? ["message.android.ttl"] : []))
        let body = Array(#"{"message":{"topic":"a","android":{"ttl":"60s"}}}"#.utf8)
        let request = MessageRules.checkRequest(body.span, expiresIn: expiresIn)
        #expect(request.report.warnings.count == (isWarned ? 1 : 0))
    }

    @Test(arguments: [
        (#""android":{"collapse_key":"a"}"#, ["message.android.collapse_key"]),
        (#""android":{"collapse_key":"a","ttl":"60s"}"#, ["message.android.collapse_key"]),
        (#""android_v2":{"collapseKey":"a"}"#, ["message.android_v2.collapse_key"]),
        // What is delivered at once or never is not throttled.
        (#""android":{"collapse_key":"a","ttl":"0s"}"#, []),
        (#""android":{"collapse_key":""}"#, []),
    ])
    func `collapse keys are throttled`(_ fields: String, _ fieldsWarned: [String]) {
        #expect(Self.warnings(#""topic":"a","# + fields) == fieldsWarned)
    }

    @Test(arguments: [
        ("dQw4w9WgXcQaBcDeFgHiJ_", true), ("dQw4w9WgXcQaBcDeFgHiJ", false), ("aQw4w9WgXcQaBcDeFgHiJ_", false),
        ("dQw4w9WgXcQaBcDeFgHiJ_:APA91bExample", false), ("dQw4w9WgXcQaBcDeFgHiJ+", false),
    ])
    func `an installation id belongs in fid`(_ token: String, _ isWarned: Bool) {
        #expect(Self.warnings("\"token\":\"\(token)\"") == (isWarned ? ["message.token"] : []))
        #expect(Self.warnings("\"fid\":\"\(token)\"").isEmpty)
    }

    @Test(arguments: [
        (#""apns":{"headers":{"apns-priority":"10"}}"#, true), (#""apns":{"headers":{"apns-priority":"5"}}"#, false),
        (#""notification":{"title":"a"},"apns":{"headers":{"apns-priority":"10"}}"#, false),
        (#""apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"alert":"a"}}}"#, false),
        (#""apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"badge":1}}}"#, false),
        (#""apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"sound":"a"}}}"#, false),
        (#""apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"content-available":1}}}"#, true),
    ])
    func `data alone has normal priority on iOS`(_ fields: String, _ isWrong: Bool) {
        let found = MessageRulesTests.errors(#""data":{"k":"v"},"# + fields)
        #expect(found == (isWrong ? ["message.apns.headers.apns-priority"] : []))
    }

    @Test func `an empty map of data is none`() {
        #expect(Self.warnings(#""token":"t","data":{},"apns":{"headers":{"apns-priority":"10"}}"#).isEmpty)
    }

    @Test func `data and payload share what iOS takes`() {
        func message(_ count: Int) -> MessageReport {
            let text = String(repeating: "a", count: count)
            return MessageRulesTests.with(#""data":{"k":"\#(text)"},"apns":{"payload":{"aps":{"alert":"\#(text)"}}}"#)
        }
        // {"aps":{"alert":""}} is 20 bytes and the key one.
        #expect(message(2037).warnings.isEmpty)
        #expect(message(2038).warnings.map(\.field) == ["message.apns.payload"])
        #expect(message(2038).isValid)
    }

    @Test(arguments: [
        (#""apns":{"headers":{"apns-priority":"5","APNS-Priority":"5"}}"#, "message.apns.headers.APNS-Priority"),
        (
            #""apns":{"headers":{"apns-push-type":"voip","apns-topic":"a.b"}}"#,
            "message.apns.headers.apns-topic"
        ),
        (
            #""apns":{"headers":{"apns-push-type":"background","apns-priority":"10"}}"#,
            "message.apns.headers.apns-priority"
        ),
        (
            #""apns":{"headers":{"apns-push-type":"background","apns-priority":"5"},"payload":{"aps":{"badge":1,"#
                + #""content-available":1}}}"#, "message.apns.payload.aps"
        ),
        (
            #""apns":{"headers":{"apns-push-type":"background","apns-priority":"5"},"payload":{"aps":{}}}"#,
            "message.apns.payload.aps.content-available"
        ),
        (
            #""apns":{"payload":{"aps":{"alert":"\#(String(repeating: "a", count: 4077))"}}}"#,
            "message.apns.payload"
        ),
        (
            #""webpush":{"notification":{"body":"\#(String(repeating: "a", count: 4086))"}}"#,
            "message.webpush.notification"
        ),
        (#""webpush":{"data":{"k":"\#(String(repeating: "a", count: 4096))"}}"#, "message.webpush.data"),
    ])
    func `an error names the field that should change`(_ fields: String, _ field: String) {
        #expect(MessageRulesTests.errors(fields) == [field])
        // One byte less is within every limit of a size.
        let shorter = fields.replacing("aaaa\"", with: "aaa\"")
        if shorter != fields { #expect(MessageRulesTests.accepts(shorter)) }
    }
}
