import Testing

@testable import Delivery

/// The neighbours of the vectors: what lies just inside and just outside of each rule.
@Suite struct MessageRulesTests {
    static func check(_ text: String) -> MessageReport { MessageRules.check(Array(text.utf8).span) }

    /// A message to a token with more fields.
    static func with(_ fields: String) -> MessageReport { check(#"{"token":"t",\#(fields)}"#) }

    static func accepts(_ fields: String) -> Bool { with(fields).isValid }

    /// The paths of the errors.
    static func errors(_ fields: String) -> [String] { with(fields).errors.map(\.field) }

    // MARK: JSON

    @Test(arguments: [
        "", "null", "[]", "\"x\"", "{", #"{"token":"t"}x"#, #"{"token":"t","token":"t"}"#, #"{"token":"a\u0000"}"#,
        #"{"token":"t","apns":{"payload":{"aps":{},"x":{"a":1,"a":2}}}}"#,
        #"{"token":"t","data":{"a":"1","\u0061":"2"}}"#,
        #"{"token":"t","fcm_options":{},"fcmOptions":{}}"#, #"{"token":"t","data":{"a":"\ud800"}}"#,
        #"{"token":"t","token":null}"#, #"{"token":"t","apns":{"payload":{"aps":{},"x":1e400}}}"#,
        #"{"token":"t","apns":{"payload":{"aps":{},"x":[-1E+999]}}}"#,
        #"{"token":"t","webpush":{"notification":{"x":1\#(String(repeating: "0", count: 309))}}}"#,
        "{\"token\":\"t\",\"data\":{\"a\":\"\u{0}\"}}",
    ])
    func `broken JSON and repeated fields are refused`(_ text: String) {
        let report = Self.check(text)
        #expect(!report.isValid)
        #expect(report.errors.allSatisfy { $0.field.hasPrefix("message") })
    }

    @Test func `invalid UTF-8 names its place`() {
        var bytes = Array(#"{"token":"t","data":{"a":"b"}}"#.utf8)
        bytes[26] = 0xFF
        let report = MessageRules.check(bytes.span)
        #expect(report.errors.map(\.field) == ["message.data"])
        #expect(report.errors.first?.reason == "is not acceptable JSON: column 27: not valid UTF-8")
    }

    @Test func `what was found stays on one line and moves no cursor`() throws {
        // CSI of ECMA-48 in one character, line ends of Unicode, and a mark that turns what follows around.
        let hostile = #"\u001b\u009b31m\u0085\u2028\u2029\u202e\u200b"#
        let report = Self.check(#"{"token":"t","\#(hostile)":1,"android":{"priority":"\#(hostile)"}}"#)
        let replaced = String(repeating: "\u{FFFD}", count: 2) + "31m" + String(repeating: "\u{FFFD}", count: 5)
        #expect(report.errors.map(\.field) == ["message." + replaced, "message.android.priority"])
        #expect(try #require(report.errors.last).reason.hasSuffix("; found \"\(replaced)\""))
        #expect(Self.errors(#""é😀":1"#) == ["message.é😀"])
    }

    @Test func `a target of the wrong type is one error, not also a missing one`() {
        for text in [#"{"topic":5}"#, #"{"fid":null,"token":["a"]}"#, #"{"condition":{}}"#] {
            #expect(Self.check(text).errors.count == 1, "\(text)")
        }
        #expect(Self.check(#"{"topic":null}"#).errors.map(\.field) == ["message"])
    }

    @Test func `escaped names are the same names`() {
        #expect(Self.check(#"{"\u0074oken":"t","\u0061ndroid":{"ttl":"1s"}}"#).isValid)
        #expect(!Self.accepts(#""data":{"\u0066rom":"x"}"#))
        #expect(!Self.accepts(#""data":{"gcm\u002ex":"x"}"#))
    }

    // MARK: Requests

    @Test(
        arguments: [
            (#"{"message":{"token":"t"}}"#, nil), (#" { "message" : {"token":"t"} , "validate_only" : true } "#, nil),
            (#"{"validateOnly":null,"message":{"token":"t"}}"#, nil), ("{}", "message"),
            (#"{"message":null}"#, "message"),
            (#"{"message":[]}"#, "message"), (#"{"message":{}}"#, "message"),
            (#"{"message":{"topic":5}}"#, "message.topic"),
            (#"{"token":"t"}"#, "token"), (#"{"message":{"token":"t"},"validate_only":1}"#, "validate_only"),
            ("[]", "request"), ("", "request"), (#"{"message":{"token":"t"}"#, "request"),
            (#"{"message":{"token":"#, "message.token"),
        ] as [(String, String?)])
    func `the body of a request`(_ body: String, _ field: String?) {
        let result = MessageRules.checkRequest(Array(body.utf8).span)
        #expect(result.report.errors.first?.field == field)
    }

    @Test func `the message is found in its request`() {
        let body = Array(#" {"validate_only":true,"message": {"token":"t","android":{"ttl":"7s"}} }"#.utf8)
        let result = MessageRules.checkRequest(body.span)
        #expect(result.isValidateOnly)
        #expect(result.report.target == MessageTarget(kind: .token, value: "t"))
        let message = body[result.message ?? 0..<0]
        #expect(String(decoding: message, as: UTF8.self) == #"{"token":"t","android":{"ttl":"7s"}}"#)
        #expect(result.report.androidTTL.map { body[$0.start] } == UInt8(ascii: "7"))
        #expect(
            !MessageRules.checkRequest(Array(#"{"message":{"token":"t"},"validate_only":false}"#.utf8).span)
                .isValidateOnly)
    }

    // MARK: null and empty

    @Test(arguments: [
        #""android":null"#, #""data":null"#, #""topic":null"#, #""android":{"ttl":null,"priority":null}"#,
        #""android":{"notification":{"body_loc_args":null,"light_settings":null,"event_time":null}}"#,
        #""apns":{"payload":null,"headers":null}"#, #""notification":{"title":null,"image":null}"#,
        #""android":{},"android_v2":null"#, #""notification":{"title":""}"#,
        #""android":{"notification":{"body_loc_args":[]}}"#, #""data":{}"#, #""data":{"":""}"#,
    ])
    func `null leaves a field of the protocol unset`(_ fields: String) {
        #expect(Self.errors(fields) == [])
    }

    @Test(arguments: [
        #""data":{"a":null}"#, #""apns":{"headers":{"x":null}}"#, #""apns":{"payload":{"aps":null}}"#,
        #""apns":{"payload":{"aps":{"badge":null}}}"#,
        #""android":{"notification":{"body_loc_key":"k","body_loc_args":[null]}}"#,
        #""android":{"notification":{"vibrate_timings":[null]}}"#,
        #""android":{"notification":{"light_settings":{"color":null,"light_on_duration":"1s","light_off_duration":"1s"}}}"#,
        #""android":{"notification":{"body_loc_args":["a"],"body_loc_key":null}}"#,
        #""android":{"notification":{"body_loc_args":["a"],"body_loc_key":""}}"#,
    ])
    func `null is no value where one is needed`(_ fields: String) {
        #expect(Self.errors(fields).count == 1)
    }

    // MARK: Targets

    @Test func `the one target is reported`() {
        #expect(Self.check(#"{"token":"a\/b"}"#).target == MessageTarget(kind: .token, value: "a/b"))
        #expect(Self.check(#"{"topic":"x","token":null}"#).target == MessageTarget(kind: .topic, value: "x"))
        #expect(Self.check(#"{"topic":"x","token":"y"}"#).target == nil)
        #expect(Self.check("{}").target == nil)
    }

    @Test(arguments: [
        (#"{"token":"","topic":"x"}"#, false), (#"{"fid":"f","token":"t"}"#, false), (#"{"fid":""}"#, false),
        (#"{"token":true}"#, false), (#"{"token":null}"#, false), (#"{"name":"projects/p/messages/1"}"#, false),
        (#"{"token":"t","name":"projects/p/messages/1"}"#, true), (#"{"token":"t","name":1}"#, false),
    ])
    func `exactly one target`(_ text: String, _ isValid: Bool) {
        #expect(Self.check(text).isValid == isValid)
    }

    @Test func `a token never appears in an error`() {
        let token = String(repeating: "secret", count: 30)
        for text in [
            #"{"token":"\#(token)","topic":"x"}"#, #"{"token":["\#(token)"]}"#, #"{"token":"\#(token)","x":1}"#,
            #"{"token":"t","apns":{"live_activity_token":["\#(token)"]}}"#,
            #"{"token":"t","data":{"a":["\#(token)"]}}"#,
        ] {
            let report = Self.check(text)
            #expect(!report.isValid)
            #expect(!report.errors.contains { $0.description.contains("secret") })
        }
    }

    @Test(arguments: [
        ("a", true), ("a-b_c.d~e%f", true), (String(repeating: "a", count: 900), true), ("%", true),
        (String(repeating: "a", count: 901), false), ("a/b", false), ("a\\u000ab", false), ("é", false), ("a b", false),
        ("topics", true), ("/topics/", false), ("a+b", false), ("", false),
    ])
    func `topic names`(_ topic: String, _ isValid: Bool) {
        #expect(Self.check(#"{"topic":"\#(topic)"}"#).isValid == isValid)
        #expect(Self.check(#"{"condition":"'\#(topic)' in topics"}"#).isValid == isValid)
    }

    @Test(arguments: [
        ("'a' in topics", true), ("  'a'  in  topics  ", true), ("'a' in topics&&'b' in topics", true),
        ("!('a' in topics)", true), ("'a' in topics && ('b' in topics || !('c' in topics))", true),
        ("(('a' in topics))", true), ("'a'in topics", true), ("! 'a' in topics", true),
        ("'a' in topics || 'b' in topics && 'c' in topics", true),
        ("a in topics", false), ("'a'", false), ("'a' in", false), ("'a' in topic", false), ("'a' in topicsx", false),
        ("'a' IN topics", false), ("'a' in topics and 'b' in topics", false), ("'a' in topics & 'b' in topics", false),
        ("'a' in topics &&", false), ("&& 'a' in topics", false), ("'a' in topics 'b' in topics", false),
        ("'a' in topics)", false), ("()", false), ("!", false), ("'a in topics", false), ("'' in topics", false),
        ("   ", false), ("\\\"a\\\" in topics", false), ("'a' in topics\\n", false), ("'a' intopics", false),
        ("'a' not in topics", false), ("'a' in topics == true", false),
        (String(repeating: "(", count: 100_000), false), (String(repeating: "!", count: 1000) + "'a' in topics", true),
        (Array(repeating: "'a' in topics", count: 6).joined(separator: "||"), false),
    ])
    func `conditions`(_ condition: String, _ isValid: Bool) {
        #expect(Self.check(#"{"condition":"\#(condition)"}"#).isValid == isValid)
    }

    // MARK: Data

    @Test(arguments: [
        ("message_type", false), ("google.", false), ("google.c.a", false), ("gcm.", false),
        ("gcm.notification", false),
        ("google", true), ("googlex", true), ("gcmx", true), ("gcm_x", true), ("From", true), ("GOOGLE.x", true),
        ("collapse_key", true), ("priority", true), ("aps", true), ("x.gcm.y", true), ("fro", true), ("名前", true),
    ])
    func `reserved keys`(_ key: String, _ isValid: Bool) {
        for fields in [
            #""data":{"\#(key)":"x"}"#, #""android":{"data":{"\#(key)":"x"}}"#,
            #""android_v2":{"data":{"\#(key)":"x"}}"#, #""webpush":{"data":{"\#(key)":"x"}}"#,
        ] {
            #expect(Self.accepts(fields) == isValid)
        }
        // Free JSON has no such rule.
        #expect(Self.accepts(#""apns":{"payload":{"aps":{},"\#(key)x":"x"}}"#))
    }

    @Test func `an error names its place`() {
        #expect(Self.errors(#""data":{"ok":"1","from":"x","n":12}"#) == ["message.data.from", "message.data.n"])
        #expect(Self.errors(#""android":{"ttl":"x"}"#) == ["message.android.ttl"])
        #expect(Self.errors(#""fcmOptions":{"analyticsLabel":"a b"}"#) == ["message.fcm_options.analytics_label"])
        #expect(
            Self.errors(#""android":{"notification":{"bodyLocKey":"k","bodyLocArgs":["a",1]}}"#)
                == ["message.android.notification.body_loc_args[1]"])
        #expect(Self.errors(#""apns":{"headers":{"apns-priority":"7"}}"#) == ["message.apns.headers.apns-priority"])
        #expect(Self.errors(#""apns":{"payload":{"aps":{"sound":{}}}}"#) == ["message.apns.payload.aps.sound.name"])
        let unknown = Self.with(#""notification":{"sound":"x"}"#).errors
        #expect(
            unknown == [
                PayloadIssue(
                    field: "message.notification.sound", reason: "is unknown here; allowed are title, body, image")
            ])
        let count = Self.with(#""android":{"notification":{"notification_count":"many"}}"#).errors
        #expect(count.first?.reason == #"must be a whole number of 32 bits, not negative; found "many""#)
    }

    @Test func `thousands of errors stay a short list`() {
        let data = (0..<5000).map { #""k\#($0)":1"# }.joined(separator: ",")
        #expect(Self.with(#""data":{\#(data)}"#).errors.count == 32)
    }

    // MARK: Android

    @Test(arguments: [
        ("0s", true), ("2419200s", true), ("2419200.000s", true), ("2419199.999999999s", true), ("003s", true),
        ("2419200.1s", false), ("2419200.000000001s", false), ("2419201s", false), ("-1s", false), ("-0s", false),
        ("+1s", false), (" 1s", false), ("1s ", false), ("1 s", false), ("1S", false), ("s", false), (".5s", false),
        ("1.s", false), ("1.1234567890s", false), ("99999999999999999999s", false), ("1,5s", false), ("PT1S", false),
        ("１s", false), ("1ms", false), ("0x1s", false), ("infs", false), ("1s1s", false),
    ])
    func `time to live`(_ ttl: String, _ isValid: Bool) {
        #expect(Self.accepts(#""android":{"ttl":"\#(ttl)"}"#) == isValid)
        #expect(Self.accepts(#""android_v2":{"ttl":"\#(ttl)"}"#) == isValid)
    }

    @Test func `the digits of the time to live are found in the bytes`() {
        for fields in [#""data":{"ttl":"9s"},"android":{"ttl":"3600.5s"}"#, #""androidV2" : { "ttl" : "3600s" }"#] {
            let bytes = Array(#"{"token":"t",\#(fields)}"#.utf8)
            let report = MessageRules.check(bytes.span)
            guard let ttl = report.androidTTL else {
                Issue.record("no range for \(fields)")
                continue
            }
            #expect(String(decoding: bytes[ttl.start..<ttl.start + ttl.length], as: UTF8.self) == "3600")
        }
        #expect(Self.with(#""data":{"ttl":"9s"}"#).androidTTL == nil)
        // Digits that are not there as digits could not be replaced in place.
        #expect(Self.errors(#""android":{"ttl":"\u0033s"}"#) == ["message.android.ttl"])
    }

    @Test(arguments: [
        (#""priority":"NORMAL""#, true), (#""priority":"normal""#, true), (#""priority":"High""#, false),
        (#""priority":1"#, false), (#""priority":10"#, false), (#""direct_boot_ok":"true""#, false),
        (#""restricted_satellite_ok":true"#, true), (#""bandwidthConstrainedOk":false"#, true), (#""ttl":3600"#, false),
        (#""collapse_key":5"#, false), (#""image":"https://a.b/c""#, false), (#""background_sync":{}"#, false),
        (#""notification":[]"#, false), (#""fcm_options":{"link":"https://a.b"}"#, false),
    ])
    func `Android settings`(_ fields: String, _ isValid: Bool) {
        #expect(Self.accepts(#""android":{\#(fields)}"#) == isValid)
    }

    @Test(arguments: [
        (#""background_sync":{}"#, true), (#""background_sync":{"x":1}"#, false), (#""priority":"high""#, false),
        (#""remote_notification":{"mutable_content":true,"use_as_v1_data_message":false}"#, true),
        (#""remoteNotification":{"notification":{"id":7,"tag":"t","notificationCount":-1}}"#, true),
        (#""remote_notification":{"notification":{"proxy":"ALLOW"}}"#, false),
        (#""remote_notification":{"notification":{"image":"http://a.b/c"}}"#, false),
        (#""notification":{}"#, false),
    ])
    func `Android settings of the second generation`(_ fields: String, _ isValid: Bool) {
        #expect(Self.accepts(#""android_v2":{\#(fields)}"#) == isValid)
    }

    @Test(arguments: [
        (#""notification_count":2147483647"#, true), (#""notification_count":2147483648"#, false),
        (#""notification_count":"5""#, true), (#""notification_count":"-5""#, false),
        (#""notification_count":5.0"#, true),
        (#""notification_count":5.5"#, false), (#""notification_count":1e2"#, true),
        (#""notification_count":1e99"#, false),
        (#""notification_count":true"#, false), (#""notification_count":"""#, false),
        (#""notification_count":"0x5""#, false),
        (#""notification_count":"nan""#, false), (#""notification_count":" 5""#, false),
        (#""visibility":"private""#, false), (#""visibility":"PUBLIC""#, true), (#""visibility":1"#, false),
        (#""notification_priority":"PRIORITY_UNSPECIFIED""#, true), (#""proxy":"PROXY_UNSPECIFIED""#, true),
        (##""color":"#ABCDEF""##, true), (#""color":"""#, false), (##""color":"#abc""##, false),
        (##""color":"#ABCDEG""##, false),
        (#""event_time":"2024-02-29T23:59:59Z""#, true), (#""event_time":"2023-02-29T23:59:59Z""#, false),
        (#""event_time":"2024-01-01T00:00:00+09:00""#, true), (#""event_time":"2024-01-01T00:00:00""#, false),
        (#""event_time":"2024-01-01 00:00:00Z""#, false), (#""event_time":"2024-13-01T00:00:00Z""#, false),
        (#""event_time":"2024-01-01T24:00:00Z""#, false), (#""event_time":"2024-01-01T00:00:00.Z""#, false),
        (#""event_time":"2024-01-01T00:00:00.1234567890Z""#, false), (#""event_time":"2024-01-01T00:00:00Z\n""#, false),
        (#""event_time":"2024-01-01T00:00:00+0900""#, false), (#""event_time":"2024-01-01T00:00:00.5""#, false),
        (#""event_time":"0001-01-01T00:00:00Z""#, true), (#""event_time":"0001-01-01T00:59:59+01:00""#, false),
        (#""event_time":"0001-01-01T01:00:00+01:00""#, true), (#""event_time":"9999-12-31T23:59:59.9Z""#, true),
        (#""event_time":"9999-12-31T23:59:59-00:01""#, false), (#""event_time":"9999-12-31T23:58:59-00:01""#, true),
        (#""vibrate_timings":["0s"]"#, true), (#""vibrate_timings":["1"]"#, false),
        (#""vibrate_timings":["99999999999999s"]"#, false),
        (#""bypass_proxy_notification":true"#, true), (#""sticky":0"#, false), (#""image":"""#, false),
        (#""title":1"#, false),
        (#""light_settings":{}"#, false), (#""light_settings":[]"#, false),
    ])
    func `Android's notification`(_ field: String, _ isValid: Bool) {
        #expect(Self.accepts(#""android":{"notification":{\#(field)}}"#) == isValid)
    }

    @Test(arguments: [
        ("{}", true), (#"{"red":1,"green":0.0,"blue":0,"alpha":1}"#, true), (#"{"red":"0.5"}"#, true),
        (#"{"red":-0.1}"#, false), (#"{"red":1.0001}"#, false), (#"{"red":255}"#, false), (#"{"red":"NaN"}"#, false),
        (#"{"red":"Infinity"}"#, false), (#"{"alpha":true}"#, false), (#"{"r":1}"#, false), (#"{"red":1e-3}"#, true),
    ])
    func `colours of light`(_ colour: String, _ isValid: Bool) {
        let light = #"{"color":\#(colour),"light_on_duration":"0.5s","light_off_duration":"0s"}"#
        #expect(Self.accepts(#""android":{"notification":{"light_settings":\#(light)}}"#) == isValid)
        let second = #"{"remote_notification":{"notification":{"lightSettings":\#(light)}}}"#
        #expect(Self.accepts(#""android_v2":\#(second)"#) == isValid)
    }

    // MARK: Addresses and labels

    @Test(arguments: [
        ("https://example.com", true), ("HTTPS://EXAMPLE.COM/A.PNG", true), ("http://example.com/a", true),
        ("https://u:p@example.com:8443/a?b#c", true), ("https://[::1]:80/a", true), ("https://例え.jp/画像.png", true),
        ("https://example.com?x=/", true), ("https://a.b/c%20d", true),
        ("https://", false), ("https:///a.png", false), ("https:/a.b", false), ("//a.b/c", false),
        ("ftp://a.b/c", false),
        ("data:image/png;base64,AAAA", false), ("https://a b/c", false), ("https://a.b/c d", false),
        ("https://a.b/\\n", false),
        ("https://a.b:0/", false), ("https://a.b:99999/", false), ("https://a.b:x/", false), ("https://:80/", false),
        ("https://@/", false), (" https://a.b", false), ("javascript:alert(1)", false), ("https://a\\\\b", false),
        ("https://[::1/a", false), ("https://?x", false), ("example.com/a.png", false),
    ])
    func `addresses of images`(_ url: String, _ isValid: Bool) {
        #expect(Self.accepts(#""notification":{"image":"\#(url)"}"#) == isValid)
        #expect(Self.accepts(#""android":{"notification":{"image":"\#(url)"}}"#) == isValid)
        #expect(Self.accepts(#""apns":{"fcm_options":{"image":"\#(url)"}}"#) == isValid)
        let isSecure = isValid && url.lowercased().hasPrefix("https://")
        #expect(Self.accepts(#""webpush":{"fcm_options":{"link":"\#(url)"}}"#) == isSecure)
    }

    @Test(arguments: [
        ("a", true), (String(repeating: "a", count: 50), true), ("A-z_0.~%", true), ("", false), ("a\\n", false),
        (String(repeating: "a", count: 51), false), ("é", false), ("a/b", false),
    ])
    func `analytics labels`(_ label: String, _ isValid: Bool) {
        for fields in [
            #""fcm_options":{"analytics_label":"\#(label)"}"#,
            #""android":{"fcm_options":{"analytics_label":"\#(label)"}}"#,
            #""apns":{"fcm_options":{"analytics_label":"\#(label)"}}"#,
            #""webpush":{"fcm_options":{"analytics_label":"\#(label)"}}"#,
        ] {
            #expect(Self.accepts(fields) == isValid)
        }
    }
}
