import Testing

@testable import Delivery

@Suite struct VerdictTests {
    static let now = 1_790_000_000

    static func fcm(_ status: Int, _ body: String = "", retryAfter: String? = nil) -> Verdict {
        .fcm(ProviderAnswer(status: status, retryAfter: retryAfter, body: Array(body.utf8)), now: now)
    }

    static func apns(_ status: Int, _ body: String = "", retryAfter: String? = nil) -> Verdict {
        .apns(ProviderAnswer(status: status, retryAfter: retryAfter, body: Array(body.utf8)), now: now)
    }

    static func error(_ status: String, _ details: String = "", message: String = "x") -> String {
        #"{"error":{"status":"\#(status)","message":"\#(message)","details":[\#(details)]}}"#
    }

    static func detail(_ code: String) -> String {
        #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#
    }

    static func violation(_ field: String, _ description: String = "") -> String {
        #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":"#
            + #"[{"field":"\#(field)","description":"\#(description)"}]}"#
    }

    // MARK: What was sent

    @Test(
        arguments: [
            (
                #"{"name":"projects/p/messages/0:1500415314455276%31bd1c9631bd1c96"}"#,
                "0:1500415314455276%31bd1c9631bd1c96"
            ),
            (#"{"name":"projects/p/messages/6792309135640625"}"#, "6792309135640625"),
            (#"{"name":"projects/messages/messages/fake_message_id"}"#, "messages/fake_message_id"),
            (#"{"name":"projects/p/messages/"}"#, nil), (#"{"name":"x"}"#, nil), (#"{"name":7}"#, nil), ("{}", nil),
            (#"{"name":"proj"#, nil), ("", nil), ("<html>", nil), ("{", nil), (#"{"na"#, nil), (#"{"name""#, nil),
            ("{\n  \"name\": \"projects/p/messages/7\"\n}\n", "7"), (#"{"name":"projects/p/messages/7"} x"#, nil),
            (#"{"name":"projects\/p\/messages\/7"}"#, "7"), (#"{"a":[1],"name":"projects/p/messages/7"}"#, "7"),
            (#"{"name":"projects/p/messages/7","name":"projects/p/messages/8"}"#, "8"),
            (#"{"name":"projects/p/messages/届け"}"#, "届け"), (#"{"name":"messages/7/"}"#, "7/"),
            (#"{"nume":"projects/p/messages/7"}"#, nil), (#"{"name":"projects/p/Messages/7"}"#, nil),
            (#"{"name":"projects/p/messages/7"},"#, nil), (#"{"name":"/messages/7"}"#, "7"),
        ] as [(String, String?)])
    func `a 200 is sent whatever its body`(_ body: String, _ id: String?) {
        let verdict = Self.fcm(200, body)
        #expect(verdict.kind == .sent && verdict.code == "OK")
        #expect(verdict.providerMessageID == id)
    }

    @Test func `APNs names a message in a header`() {
        let answer = ProviderAnswer(status: 200, apnsID: "eabeae54-14a8-11e5-b60b-1697f925ec7b")
        #expect(Verdict.apns(answer, now: Self.now).providerMessageID == answer.apnsID)
    }

    // MARK: FCM

    @Test(
        arguments: [
            (
                400, error("INVALID_ARGUMENT", violation("message.token", "Invalid registration token")), .tokenInvalid,
                "INVALID_ARGUMENT"
            ),
            (400, error("INVALID_ARGUMENT", violation("message.fid")), .tokenInvalid, "INVALID_ARGUMENT"),
            (400, error("INVALID_ARGUMENT", violation("message.token_x")), .payload, "INVALID_ARGUMENT"),
            (400, error("INVALID_ARGUMENT", violation("message.topic")), .payload, "INVALID_ARGUMENT"),
            (
                400,
                error(
                    "INVALID_ARGUMENT", violation("message.token", "Invalid value at 'message.token' (TYPE_STRING), 12")
                ),
                .payload, "INVALID_ARGUMENT"
            ),
            (400, error("INVALID_ARGUMENT", detail("UNREGISTERED")), .tokenInvalid, "UNREGISTERED"),
            (
                400,
                error("INVALID_ARGUMENT", #"{"@type":"x/google.firebase.fcm.v1.ApnsError","reason":"ExpiredToken"}"#),
                .tokenInvalid, "ExpiredToken"
            ),
            (
                400,
                error(
                    "INVALID_ARGUMENT", #"{"@type":"x/google.firebase.fcm.v1.ApnsError","reason":"TopicDisallowed"}"#),
                .payload, "TopicDisallowed"
            ),
            (
                400,
                error(
                    "INVALID_ARGUMENT",
                    #"{"@type":"x/google.firebase.fcm.v1.ApnsError","reason":"DeviceTokenNotForTopic"}"#),
                .permanent, "DeviceTokenNotForTopic"
            ),
            (400, error("FAILED_PRECONDITION"), .payload, "HTTP_400"),
            (403, error("PERMISSION_DENIED", detail("SENDER_ID_MISMATCH")), .permanent, "SENDER_ID_MISMATCH"),
            (404, error("NOT_FOUND"), .permanent, "NOT_FOUND"),
            (404, error("NOT_FOUND", detail("UNSPECIFIED_ERROR")), .permanent, "NOT_FOUND"),
            (
                404, error("NOT_FOUND", detail("UNSPECIFIED_ERROR") + "," + detail("UNREGISTERED")), .tokenInvalid,
                "UNREGISTERED"
            ),
            (500, error("INTERNAL", detail("SOMETHING_NEW")), .retry, "INTERNAL"),
            (500, error("UNKNOWN", detail("SOMETHING_NEW")), .retry, "HTTP_500"),
            (503, error("x y\\nz"), .retry, "HTTP_503"),
            (504, "", .retry, "HTTP_504"), (409, "", .retry, "HTTP_409"), (402, "", .permanent, "HTTP_402"),
            (410, "", .permanent, "HTTP_410"), (431, "", .payload, "HTTP_431"), (302, "", .authConfig, "HTTP_302"),
            (0, "", .unknown, "HTTP_0"), (103, "", .unknown, "HTTP_103"), (-1, "", .unknown, "HTTP_-1"),
            (400, #"{"error":{"code":400}}"#, .payload, "HTTP_400"), (401, "[]", .authConfig, "HTTP_401"),
        ] as [(Int, String, VerdictClass, String)])
    func `an answer of FCM`(_ status: Int, _ body: String, _ kind: VerdictClass, _ code: String) {
        let verdict = Self.fcm(status, body)
        #expect(verdict.kind == kind)
        #expect(verdict.code == code)
    }

    @Test(
        arguments: [
            (429, "", nil, 60), (429, "", "x", 60), (429, "", "0", 0), (429, "", "7200", 7200), (429, "", "-3", 0),
            (429, error("RESOURCE_EXHAUSTED"), "17", 17),
            (429, error("RESOURCE_EXHAUSTED", detail("QUOTA_EXCEEDED")), nil, 60),
            (429, error("UNAVAILABLE"), nil, 60),
            (503, error("UNAVAILABLE", detail("UNAVAILABLE")), "45", 45), (500, error("INTERNAL"), "5", 5),
            (502, "", "1", 1),
            (503, error("UNAVAILABLE"), "soon", nil), (408, "", "9", 9),
        ] as [(Int, String, String?, Int?)])
    func `how long FCM asks to wait`(_ status: Int, _ body: String, _ header: String?, _ seconds: Int?) {
        let verdict = Self.fcm(status, body, retryAfter: header)
        #expect(verdict.retryAfterSeconds == seconds)
        #expect(verdict.kind == (seconds == nil ? .retry : .retryAfter))
    }

    @Test func `only our own token is worth a new one`() {
        #expect(Self.fcm(401, Self.error("UNAUTHENTICATED")).asksForNewCredentials)
        #expect(Self.fcm(401).asksForNewCredentials)
        #expect(
            !Self.fcm(401, Self.error("UNAUTHENTICATED", Self.detail("THIRD_PARTY_AUTH_ERROR"))).asksForNewCredentials)
        #expect(!Self.fcm(403).asksForNewCredentials)
        #expect(Self.apns(403, #"{"reason":"ExpiredProviderToken"}"#).asksForNewCredentials)
        #expect(!Self.apns(403, #"{"reason":"InvalidProviderToken"}"#).asksForNewCredentials)
    }

    // MARK: APNs

    @Test(
        arguments: [
            (400, "BadTopic", .authConfig), (410, "ExpiredToken", .tokenInvalid), (410, "", .tokenInvalid),
            (403, "TopicMismatch", .authConfig), (400, "FeatureNotEnabled", .authConfig), (404, "", .permanent),
            (405, "", .permanent), (413, "", .payload), (429, "", .retry), (429, "TooManyRequests", .retry),
            (302, "", .authConfig), (202, "", .sent), (0, "", .unknown), (503, "Nonsense", .retryAfter),
            (403, "BadEnvironmentKeyInToken", .authConfig),
        ] as [(Int, String, VerdictClass)])
    func `an answer of APNs`(_ status: Int, _ reason: String, _ kind: VerdictClass) {
        #expect(Self.apns(status, reason.isEmpty ? "" : #"{"reason":"\#(reason)"}"#).kind == kind)
    }

    @Test func `a dead token comes with the time of its death`() {
        let body = #"{"reason":"Unregistered","timestamp":1637679125000}"#
        #expect(Self.apns(410, body).tokenInvalidSince == 1_637_679_125_000)
        #expect(Self.apns(400, body).tokenInvalidSince == nil)
        #expect(Self.apns(410, #"{"reason":"Unregistered","timestamp":1e99}"#).tokenInvalidSince == nil)
    }

    @Test func `APNs' quarter of an hour gives way to a header`() {
        #expect(Self.apns(503, #"{"reason":"Shutdown"}"#).retryAfterSeconds == 900)
        #expect(Self.apns(503, #"{"reason":"Shutdown"}"#, retryAfter: "30").retryAfterSeconds == 30)
    }

    // MARK: Transport

    @Test(arguments: [6, 7, 28, 35, 56, 60, 92])
    func `what was never issued is proven unprocessed, what was issued is unknown`(_ code: Int) {
        let before = Verdict.transport(curlCode: code, issued: false)
        #expect(before.isUnprocessed && before.kind == (code == 60 ? .authConfig : .retry))
        let after = Verdict.transport(curlCode: code, issued: true)
        #expect(!after.isUnprocessed && after.kind == .unknown && after.code == "CURL_\(code)")
    }

    // MARK: Anything at all

    @Test func `no body makes a verdict fail or a code long`() throws {
        var generator = SplitMix64(seed: 11)
        let seeds = try AnswerVector.all().map(\.answer)
        for round in 0..<6000 {
            var answer = seeds[round % seeds.count]
            if round % 5 == 0 {
                answer.body = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
                    .random(in: 0...255, using: &generator)
                }
            } else if !answer.body.isEmpty {
                let index = Int.random(in: 0..<answer.body.count, using: &generator)
                switch round % 4 {
                case 0: answer.body.remove(at: index)
                case 1: answer.body.insert(.random(in: 0...255, using: &generator), at: index)
                case 2: answer.body.removeLast(index)
                default: answer.body[index] = Array("[]{}\",:0n\\".utf8).randomElement(using: &generator) ?? 0
                }
            }
            answer.status = Bool.random(using: &generator) ? answer.status : .random(in: -5...700, using: &generator)
            for verdict in [Verdict.fcm(answer, now: Self.now), Verdict.apns(answer, now: Self.now)] {
                #expect((1...64).contains(verdict.code.utf8.count) && !verdict.hint.isEmpty)
                #expect((verdict.kind == .retryAfter) == (verdict.retryAfterSeconds != nil))
                #expect((verdict.kind == .sent) == (200..<300).contains(answer.status))
            }
        }
    }

    @Test(arguments: [#""field":"","#, ""])
    func `a violation without a field is no field to correct`(_ field: String) {
        let body =
            #"{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc"#
            + #".BadRequest","fieldViolations":[{\#(field)"description":"Invalid JSON payload received."}]}]}}"#
        let verdict = Verdict.fcm(ProviderAnswer(status: 400, body: Array(body.utf8)), now: 0)
        #expect(verdict.kind == .payload)
        #expect(verdict.hint.hasPrefix("FCM refused the message without naming a field."))
    }

    @Test func `the name of a refused field is one short line whatever the answer calls it`() {
        let name = #"message.data.a\n\u001b["# + String(repeating: "\u{301}", count: 2_000)
        let body =
            #"{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[\#(Self.violation(name))]}}"#
        let hint = Verdict.fcm(ProviderAnswer(status: 400, body: Array(body.utf8)), now: 0).hint
        #expect(hint.hasPrefix("FCM refused the field message.data.a??"))
        #expect(hint.utf8.count < 400)
    }
}
