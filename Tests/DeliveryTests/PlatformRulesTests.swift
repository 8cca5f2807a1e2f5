import Testing

@testable import Delivery

/// APNs, web push and sizes: what lies just inside and just outside of each rule.
@Suite struct PlatformRulesTests {
    static func with(_ fields: String) -> MessageReport { MessageRulesTests.with(fields) }
    static func accepts(_ fields: String) -> Bool { with(fields).isValid }

    // MARK: APNs

    @Test(arguments: [
        (#""APNS-Priority":"7""#, false), (#""apns-priority":"""#, false), (#""apns-priority":"010""#, false),
        (#""apns-expiration":"1760003600""#, true), (#""apns-expiration":"""#, false),
        (#""apns-expiration":"1.5""#, false),
        (#""apns-expiration":"9999999999999999999999""#, false), (#""apns-collapse-id":"""#, true),
        (#""apns-push-type":"Alert""#, false), (#""apns-push-type":"""#, false), (#""apns-push-type":"voip""#, true),
        (#""apns-push-type":"voip","apns-topic":"a.b""#, false),
        (#""apns-push-type":"voip","apns-topic":"a.b.voip""#, true),
        (#""apns-topic":"a.b","apns-push-type":"liveactivity""#, false),
        (#""apns-topic":"a.b","apns-push-type":"alert""#, true),
        (#""apns-topic":"""#, false), (#""apns-id":"123E4567-e89b-12d3-a456-4266554400a0""#, false),
        (#""apns-id":"123e4567e89b12d3a4564266554400a0""#, false), (#""x-custom":"y""#, true),
    ])
    func `headers of APNs`(_ headers: String, _ isValid: Bool) {
        #expect(Self.accepts(#""apns":{"headers":{\#(headers)}}"#) == isValid)
    }

    @Test(arguments: [
        (#""apns-priority":"5""#, #"{"content-available":1}"#, true),
        (#""apns-priority":"1""#, #"{"content-available":1}"#, false),
        (#""apns-priority":"5""#, #"{"content-available":1,"badge":1}"#, false),
        (#""apns-priority":"5""#, #"{"content-available":1,"sound":"x"}"#, false),
        (#""apns-priority":"5""#, #"{"content-available":0}"#, false), (#""apns-priority":"5""#, "{}", false),
        (#""x":"y""#, #"{"content-available":1}"#, true),
    ])
    func `a background push wakes the app and shows nothing`(_ header: String, _ aps: String, _ isValid: Bool) {
        let headers = #"{"apns-push-type":"background",\#(header)}"#
        #expect(Self.accepts(#""apns":{"headers":\#(headers),"payload":{"aps":\#(aps)}}"#) == isValid)
        // Whichever comes first.
        #expect(Self.accepts(#""apns":{"payload":{"aps":\#(aps)},"headers":\#(headers)}"#) == isValid)
    }

    @Test(arguments: [
        (#"{}"#, true), (#"{"alert":""}"#, true), (#"{"alert":true}"#, false), (#"{"alert":{}}"#, true),
        (#"{"alert":{"title":5}}"#, false), (#"{"alert":{"title":{"loc-key":"k","loc-args":["a"]}}}"#, true),
        (#"{"alert":{"title":{"loc-args":["a"]}}}"#, false), (#"{"alert":{"title-loc-args":["a"]}}"#, false),
        (#"{"alert":{"title-loc-args":["a"],"loc-key":"k"}}"#, false), (#"{"alert":{"custom":1}}"#, true),
        (#"{"badge":true}"#, false), (#"{"badge":1.5}"#, true), (#"{"sound":{"name":""}}"#, false),
        (#"{"sound":{"name":"x","critical":true}}"#, false), (#"{"sound":{"name":"x","volume":"1"}}"#, false),
        (#"{"sound":{"name":"x","volume":0}}"#, true), (#"{"sound":["x"]}"#, false),
        (#"{"sound":{"critical":1}}"#, false),
        (#"{"content-available":true}"#, false), (#"{"content-available":"1"}"#, false),
        (#"{"content-available":0}"#, true),
        (#"{"mutable-content":2}"#, false), (#"{"category":5}"#, false), (#"{"thread-id":["x"]}"#, false),
        (#"{"interruption-level":"time-sensitive"}"#, true), (#"{"interruption-level":"urgent"}"#, false),
        (#"{"relevance-score":"1"}"#, false), (#"{"event":"pause"}"#, false), (#"{"timestamp":"1"}"#, false),
        (#"{"anything":[null,{"x":null}]}"#, true),
    ])
    func `the aps dictionary`(_ aps: String, _ isValid: Bool) {
        #expect(Self.accepts(#""apns":{"payload":{"aps":\#(aps)}}"#) == isValid)
    }

    @Test(arguments: [
        (#"{"payload":{}}"#, false), (#"{"payload":{"k":"v"}}"#, false), (#"{"payload":[]}"#, false),
        (#"{"payload":{"aps":"x"}}"#, false), (#"{"payload":{"aps":{},"k":null}}"#, true), (#"{}"#, true),
        (#"{"fcm_options":{"image":"x"}}"#, false), (#"{"live_activity_token":null}"#, true),
        (#"{"headers":[]}"#, false),
    ])
    func `settings for APNs`(_ apns: String, _ isValid: Bool) {
        #expect(Self.accepts(#""apns":\#(apns)"#) == isValid)
    }

    @Test func `an image that iOS would not show is worth a warning`() {
        let image = #""notification":{"image":"https://a.b/c"}"#
        let place = "message.apns.payload.aps.mutable-content"
        #expect(Self.with(image).warnings.map(\.field) == [place])
        #expect(
            Self.with(image + #","apns":{"payload":{"aps":{"mutable-content":0}}}"#).warnings.map(\.field) == [place])
        #expect(Self.with(image + #","apns":{"payload":{"aps":{"mutable-content":1}}}"#).warnings == [])
        #expect(Self.with(#""apns":{"fcm_options":{"image":"https://a.b/c"}}"#).warnings.map(\.field) == [place])
        #expect(Self.with(#""android":{"notification":{"image":"https://a.b/c"}}"#).warnings == [])
    }

    @Test(arguments: [
        #""notification":{"image":"http://a.b/c"},"apns":{"payload":{"aps":{"mutable-content":1}}}"#,
        #""android":{"notification":{"image":"https://a.b/é"}}"#, #""name":"x""#,
        #""apns":{"headers":{"apns-expiration":"1760003600000"}}"#,
        #""apns":{"headers":{"apns-push-type":"background"}}"#,
        #""apns":{"live_activity_token":"x","payload":{"aps":{}}}"#,
    ])
    func `what is allowed and hardly meant is a warning`(_ fields: String) {
        let report = Self.with(fields)
        #expect(report.isValid && report.warnings.count == 1)
    }

    // MARK: Web push

    @Test(arguments: [
        (#"{"headers":{"ttl":"0"}}"#, true), (#"{"headers":{"TTL":"-1"}}"#, false),
        (#"{"headers":{"TTL":"15s"}}"#, false),
        (#"{"headers":{"Urgency":"very-low"}}"#, true), (#"{"headers":{"Urgency":"urgent"}}"#, false),
        (#"{"headers":{"Topic":"x"}}"#, true), (#"{"notification":{"dir":"rtl","title":"t","custom":[1]}}"#, true),
        (#"{"notification":{"dir":"RTL"}}"#, false), (#"{"notification":{"title":5}}"#, false),
        (#"{"notification":[]}"#, false),
        (#"{"notification":{"silent":"yes"}}"#, false),
        (#"{"notification":{"vibrate":[200,100],"data":{"a":null}}}"#, true),
        (#"{"fcm_options":{"link":"http://a.b"}}"#, false), (#"{"fcm_options":{"link":""}}"#, false),
        (#"{"ttl":"1s"}"#, false),
        (#"{"fcm_options":{"image":"https://a.b"}}"#, false),
    ])
    func `settings for web push`(_ webpush: String, _ isValid: Bool) {
        #expect(Self.accepts(#""webpush":\#(webpush)"#) == isValid)
    }

    // MARK: Sizes

    static func x(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test func `data counts keys and values as UTF-8, without escapes`() {
        #expect(Self.accepts(#""data":{"k":"\#(Self.x(4095))"}"#))
        #expect(!Self.accepts(#""data":{"kk":"\#(Self.x(4095))"}"#))
        #expect(Self.accepts(#""data":{"k":"\#(String(repeating: #"\u0041"#, count: 4095))"}"#))
        #expect(Self.accepts(#""data":{"k":"\#(String(repeating: #"\ud83d\ude00"#, count: 1023))"}"#))
        #expect(!Self.accepts(#""data":{"k":"\#(String(repeating: #"\ud83d\ude00"#, count: 1024))"}"#))
    }

    @Test func `notification and data share the limit`() {
        // 17 + "body" + 3000 and 1 + 1074 make 4096.
        #expect(Self.accepts(#""notification":{"body":"\#(Self.x(3000))"},"data":{"k":"\#(Self.x(1074))"}"#))
        #expect(!Self.accepts(#""notification":{"body":"\#(Self.x(3000))"},"data":{"k":"\#(Self.x(1075))"}"#))
    }

    @Test func `each platform is measured with what it gets`() {
        #expect(Self.accepts(#""data":{"k":"\#(Self.x(4000))"},"android":{"data":{"k":"\#(Self.x(4000))"}}"#))
        #expect(!Self.accepts(#""android":{"data":{"k":"\#(Self.x(4096))"}}"#))
        #expect(!Self.accepts(#""android_v2":{"data":{"k":"\#(Self.x(4096))"}}"#))
        #expect(!Self.accepts(#""webpush":{"data":{"k":"\#(Self.x(4096))"}}"#))
        // iOS gets the common data whatever Android has.
        #expect(!Self.accepts(#""data":{"k":"\#(Self.x(4096))"},"android":{"data":{"k":"x"}}"#))
        // Android's body takes the place of the common one, its title is added to it.
        let common = #""notification":{"body":"\#(Self.x(4000))"}"#
        #expect(Self.accepts(common + #","android":{"notification":{"body":"\#(Self.x(4000))"}}"#))
        #expect(!Self.accepts(common + #","android":{"notification":{"title":"\#(Self.x(100))"}}"#))
    }

    @Test func `a topic has half the room`() {
        func topic(_ target: String, _ size: Int) -> Bool {
            MessageRulesTests.check(#"{\#(target),"data":{"k":"\#(Self.x(size - 1))"}}"#).isValid
        }
        for target in [#""topic":"news""#, #""condition":"'news' in topics""#] {
            #expect(topic(target, 2048))
            #expect(!topic(target, 2049))
        }
    }

    @Test func `the payload for APNs is measured without white space and needless escapes`() {
        func payload(_ body: String, space: String = "") -> Bool {
            Self.accepts(#""apns":{"payload":\#(space){\#(space)"aps"\#(space):\#(space){"alert":"\#(body)"}}}"#)
        }
        // {"aps":{"alert":""}} has 20 bytes.
        #expect(payload(Self.x(4076)))
        #expect(!payload(Self.x(4077)))
        #expect(payload(Self.x(4076), space: String(repeating: " \n", count: 500)))
        #expect(payload(String(repeating: #"\u0041"#, count: 4076)))
        #expect(payload(String(repeating: #"\n"#, count: 2038)))
        #expect(!payload(String(repeating: #"\u000a"#, count: 2039)))
    }

    // MARK: Anything at all

    @Test func `no bytes make the check fail, and what it accepts is JSON with one target`() throws {
        var generator = SplitMix64(seed: 42)
        let seeds = try PayloadVector.all().filter { $0.message.count < 1000 }
        var accepted = 0
        for round in 0..<5000 {
            var bytes = seeds[round % seeds.count].message
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0...3, using: &generator) {
                case 0: bytes[index] = .random(in: 0...255, using: &generator)
                case 1: bytes[index] = Array("{}[]\",:\\0sn".utf8).randomElement(using: &generator) ?? 0
                case 2: bytes.removeLast(min(index, bytes.count - 1))
                default: bytes.insert(contentsOf: bytes[index...].prefix(5), at: index)
                }
            }
            let report = MessageRules.check(bytes.span)
            guard report.isValid else { continue }
            accepted += 1
            #expect(report.target?.value.isEmpty == false)
            #expect(throws: Never.self) { try JSONValue.parse(bytes.span) }
            if let ttl = report.androidTTL {
                #expect(bytes[ttl.start..<ttl.start + ttl.length].allSatisfy { ASCII.isDigit($0) })
            }
        }
        #expect(accepted > 300)
    }
}
