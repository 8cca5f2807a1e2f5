import Testing

@testable import Delivery

/// Families of answers beyond the case file: every place a sign can stand in, and what must not be taken for one.
@Suite struct VerdictFamilyTests {
    typealias Base = VerdictTests

    static func apnsError(_ reason: String) -> String {
        #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":400,"reason":"\#(reason)"}"#
    }

    static func errorInfo(_ reason: String) -> String {
        #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"\#(reason)","domain":"googleapis.com"}"#
    }

    static let html = "<!DOCTYPE html><html lang=en><title>Error</title>"

    // MARK: The details

    @Test(
        arguments: [
            // A code that is not known yet does not hide one that is.
            (404, "NOT_FOUND", ["SOMETHING_NEW", "UNREGISTERED"], .tokenInvalid, "UNREGISTERED"),
            (403, "PERMISSION_DENIED", ["X", "SENDER_ID_MISMATCH"], .permanent, "SENDER_ID_MISMATCH"),
            // Of two that are known the first counts, as in Google's SDKs.
            (400, "INVALID_ARGUMENT", ["INVALID_ARGUMENT", "UNREGISTERED"], .payload, "INVALID_ARGUMENT"),
            // Codes are spelled as documented or are no codes.
            (404, "NOT_FOUND", ["unregistered"], .permanent, "NOT_FOUND"),
            (404, "NOT_FOUND", [" UNREGISTERED"], .permanent, "NOT_FOUND"),
            (404, "not_found", ["Unregistered"], .permanent, "HTTP_404"),
            (503, "UNAVAILABLE", ["SOMETHING_NEW"], .retry, "UNAVAILABLE"),
            // Without a word the HTTP status decides, whatever the rpc status says.
            (400, "INVALID_ARGUMENT", ["UNSPECIFIED_ERROR"], .payload, "INVALID_ARGUMENT"),
            (403, "PERMISSION_DENIED", ["UNSPECIFIED_ERROR"], .authConfig, "PERMISSION_DENIED"),
            (429, "RESOURCE_EXHAUSTED", ["UNSPECIFIED_ERROR"], .retryAfter, "RESOURCE_EXHAUSTED"),
            (500, "UNKNOWN", ["UNSPECIFIED_ERROR"], .retry, "HTTP_500"),
            (503, "INVALID_ARGUMENT", ["UNSPECIFIED_ERROR"], .retry, "HTTP_503"),
            (400, "UNAVAILABLE", ["UNSPECIFIED_ERROR"], .payload, "HTTP_400"),
            (503, "UNAVAILABLE", ["UNSPECIFIED_ERROR", "UNREGISTERED"], .tokenInvalid, "UNREGISTERED"),
        ] as [(Int, String, [String], VerdictClass, String)])
    func `several FcmErrors, and odd ones`(
        _ status: Int, _ word: String, _ codes: [String], _ kind: VerdictClass, _ code: String
    ) {
        let details = codes.map { Base.detail($0) }.joined(separator: ",")
        let verdict = Base.fcm(status, Base.error(word, details))
        #expect(verdict.kind == kind && verdict.code == code)
    }

    @Test(
        arguments: [
            ("type.googleapis.com/google.firebase.fcm.v1.FcmError", true),
            ("google.firebase.fcm.v1.FcmError", true),
            ("type.googleapis.com/google.rpc.ErrorInfo", false),
            ("type.googleapis.com/google.firebase.fcm.v1.FcmErrors", false),
            ("type.googleapis.com/google.firebase.fcm.v2.FcmError", false), ("", false),
        ])
    func `only an FcmError has an errorCode`(_ type: String, _ counts: Bool) {
        let body = Base.error("NOT_FOUND", #"{"@type":"\#(type)","errorCode":"UNREGISTERED"}"#)
        #expect(Base.fcm(404, body).kind == (counts ? .tokenInvalid : .permanent))
    }

    @Test(arguments: [
        #"{"errorCode":"UNREGISTERED"}"#, #"{"@type":7,"errorCode":"UNREGISTERED"}"#, #"["UNREGISTERED"]"#, "7",
        #"{"@type":"x/google.firebase.fcm.v1.FcmError","errorCode":["UNREGISTERED"]}"#,
        #"{"@type":"x/google.firebase.fcm.v1.FcmError","errorCode":null}"#,
        #"{"@type":"x/google.firebase.fcm.v1.FcmError"}"#,
    ])
    func `a detail of another shape proves nothing`(_ detail: String) {
        #expect(Base.fcm(404, Base.error("NOT_FOUND", detail)).kind == .permanent)
        #expect(Base.fcm(404, #"{"error":{"status":"NOT_FOUND","details":\#(detail)}}"#).kind == .permanent)
        #expect(Base.fcm(400, #"{"error":\#(detail)}"#).kind == .payload)
    }

    @Test(
        arguments: [
            (400, "FAILED_PRECONDITION", .payload), (400, "OUT_OF_RANGE", .payload), (409, "ABORTED", .retry),
            (409, "ALREADY_EXISTS", .permanent), (499, "CANCELLED", .retry), (500, "UNKNOWN", .retry),
            (500, "DATA_LOSS", .retry), (501, "UNIMPLEMENTED", .retry), (504, "DEADLINE_EXCEEDED", .retry),
            // The rpc status outranks the HTTP status.
            (500, "INVALID_ARGUMENT", .payload), (404, "UNAVAILABLE", .retry), (503, "NOT_FOUND", .permanent),
            (400, "PERMISSION_DENIED", .authConfig), (403, "RESOURCE_EXHAUSTED", .retryAfter),
        ] as [(Int, String, VerdictClass)])
    func `an rpc status without details`(_ status: Int, _ word: String, _ kind: VerdictClass) {
        #expect(Base.fcm(status, Base.error(word)).kind == kind)
    }

    // MARK: HTTP status alone

    @Test(arguments: ["", html, "null", "[]", "[7]", #"{"error":"text"}"#, #"{"error":null}"#, "{", "\u{FEFF}", "7"])
    func `without a readable error the HTTP status decides`(_ body: String) {
        let kinds: [(ClosedRange<Int>, VerdictClass)] = [
            (200...299, .sent), (300...399, .authConfig), (400...400, .payload), (401...401, .authConfig),
            (402...402, .permanent), (403...403, .authConfig), (404...406, .permanent), (407...407, .authConfig),
            (408...409, .retry), (410...412, .permanent), (413...415, .payload), (416...420, .permanent),
            (421...421, .retry), (422...422, .payload), (423...424, .permanent), (425...425, .retry),
            (426...428, .permanent), (429...429, .retryAfter), (430...430, .permanent), (431...431, .payload),
            (432...498, .permanent), (499...599, .retry), (600...700, .unknown), (-1...199, .unknown),
        ]
        for (statuses, kind) in kinds {
            for status in statuses {
                let verdict = Base.fcm(status, body)
                #expect(verdict.kind == kind, "\(status)")
                #expect(verdict.evidence == (status < 200 ? .transport : .httpStatus))
            }
        }
    }

    @Test(arguments: [408, 409, 421, 425, 499, 500, 501, 502, 503, 504, 520, 599])
    func `a passing fault waits as long as it is told to`(_ status: Int) {
        for body in ["", Self.html, Base.error("UNKNOWN")] {
            #expect(Base.fcm(status, body).kind == .retry)
            let told = Base.fcm(status, body, retryAfter: "30")
            #expect(told.kind == .retryAfter && told.retryAfterSeconds == 30)
            #expect(Base.fcm(status, body, retryAfter: "0").retryAfterSeconds == 0)
            #expect(Base.fcm(status, body, retryAfter: "-7").retryAfterSeconds == 0)
            #expect(Base.fcm(status, body, retryAfter: "30, 60").kind == .retry)
        }
    }

    @Test(arguments: ["30", "Sun, 06 Nov 1994 08:49:37 GMT"])
    func `a time to wait changes nothing for what is not tried again`(_ header: String) {
        for (status, body) in [
            (400, Base.error("INVALID_ARGUMENT")), (401, ""), (403, ""), (404, ""), (200, "{}"), (302, ""),
        ] {
            #expect(Base.fcm(status, body, retryAfter: header) == Base.fcm(status, body))
        }
    }

    // MARK: Credentials

    @Test(
        arguments: [
            ("", "UNAUTHENTICATED", true), (errorInfo("ACCESS_TOKEN_EXPIRED"), "ACCESS_TOKEN_EXPIRED", true),
            (errorInfo("CREDENTIALS_MISSING"), "CREDENTIALS_MISSING", true),
            (errorInfo("ACCESS_TOKEN_TYPE_UNSUPPORTED"), "ACCESS_TOKEN_TYPE_UNSUPPORTED", true),
            (Base.detail("UNSPECIFIED_ERROR"), "UNAUTHENTICATED", true),
            (Base.detail("THIRD_PARTY_AUTH_ERROR"), "THIRD_PARTY_AUTH_ERROR", false),
            (Base.detail("APNS_AUTH_ERROR"), "APNS_AUTH_ERROR", false),
            (
                apnsError("BadEnvironmentKeyInToken") + "," + Base.detail("THIRD_PARTY_AUTH_ERROR"),
                "THIRD_PARTY_AUTH_ERROR", false
            ),
            (apnsError("InvalidProviderToken"), "InvalidProviderToken", false),
        ])
    func `a 401 is worth a new token where the token is ours`(_ details: String, _ code: String, _ asks: Bool) {
        let verdict = Base.fcm(401, Base.error("UNAUTHENTICATED", details))
        #expect(verdict.kind == .authConfig && verdict.code == code && verdict.asksForNewCredentials == asks)
    }

    @Test(arguments: ["IAM_PERMISSION_DENIED", "SERVICE_DISABLED", "CONSUMER_INVALID", "SOMETHING_NEW"])
    func `a 403 without an FcmError is about our settings`(_ reason: String) {
        for word in ["PERMISSION_DENIED", "WHATEVER"] {
            let verdict = Base.fcm(403, Base.error(word, Self.errorInfo(reason)))
            #expect(verdict.kind == .authConfig && verdict.code == reason && !verdict.asksForNewCredentials)
        }
    }

    // MARK: Quota

    @Test(arguments: [
        Base.error("RESOURCE_EXHAUSTED"), Base.error("RESOURCE_EXHAUSTED", Base.detail("QUOTA_EXCEEDED")),
        Base.error("RESOURCE_EXHAUSTED", errorInfo("RATE_LIMIT_EXCEEDED")),
        Base.error(
            "RESOURCE_EXHAUSTED",
            #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"x"}]}"#),
        Base.error("RESOURCE_EXHAUSTED", apnsError("TooManyRequests")),
        Base.error("x", errorInfo("RATE_LIMIT_EXCEEDED")),
        Base.error("UNAVAILABLE", Base.detail("UNAVAILABLE")), "", html, #"{"error":"slow down"}"#,
    ])
    func `a 429 waits, a minute unless told`(_ body: String) {
        #expect(Base.fcm(429, body).kind == .retryAfter && Base.fcm(429, body).retryAfterSeconds == 60)
        #expect(Base.fcm(429, body, retryAfter: "5").retryAfterSeconds == 5)
        #expect(Base.fcm(429, body, retryAfter: "5.5").retryAfterSeconds == 60)
    }

    // MARK: Dead tokens

    @Test(
        arguments: [
            (Base.violation("message.token", "Invalid registration token"), .tokenInvalid),
            (
                Base.violation("message.android.ttl", "x") + "," + Base.violation("message.token", "Invalid"),
                .tokenInvalid
            ),
            (
                #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.data"},"#
                    + #"{"field":"message.fid","description":"Invalid"}]}"#,
                .tokenInvalid
            ),
            (Base.violation("message.data[0].value"), .payload), (Base.violation("message"), .payload),
            (Base.violation("token"), .payload), (Base.violation("message.token.x"), .payload),
            (Base.violation("message.Token"), .payload), (Base.violation("message.condition"), .payload),
            (Base.violation("message.token", "Invalid value at 'message.token' (TYPE_STRING), 7"), .payload),
            (
                Base.violation("message.token", "Invalid JSON payload received. Field is not repeating."),
                .payload
            ),
            (Base.violation("message.token", "Invalid value at 'message' (oneof), already set"), .payload),
            (#"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":{}}"#, .payload),
            (#"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[7,{"field":7}]}"#, .payload),
            (
                #"{"@type":"type.googleapis.com/google.rpc.PreconditionFailure","fieldViolations":"#
                    + #"[{"field":"message.token"}]}"#,
                .payload
            ),
        ] as [(String, VerdictClass)])
    func `a violation is proof only where it names the token`(_ detail: String, _ kind: VerdictClass) {
        for body in [
            Base.error("INVALID_ARGUMENT", detail),
            Base.error("INVALID_ARGUMENT", Base.detail("INVALID_ARGUMENT") + "," + detail),
            Base.error("INVALID_ARGUMENT", detail + "," + Base.detail("INVALID_ARGUMENT")),
            Base.error("SOMETHING", detail),
        ] { #expect(Base.fcm(400, body).kind == kind) }
        // Whatever else is wrong comes before: no proof on top of a passing fault or a refusal of ours.
        for (status, word) in [(503, "UNAVAILABLE"), (500, "INTERNAL"), (429, "RESOURCE_EXHAUSTED")] {
            #expect(Base.fcm(status, Base.error(word, detail)).kind != .tokenInvalid)
        }
        #expect(Base.fcm(403, Base.error("PERMISSION_DENIED", detail)).kind == .authConfig)
    }

    @Test(
        arguments: [
            ("The registration token is not a valid FCM registration token", .tokenInvalid),
            ("The registration token is not a valid FCM registration token.", .tokenInvalid),
            ("Request contains an invalid argument.", .payload), ("Requested entity was not found.", .payload),
            ("Invalid value: The registration token is not a valid FCM registration token", .payload),
        ] as [(String, VerdictClass)])
    func `a sentence is proof where it is the one`(_ message: String, _ kind: VerdictClass) {
        let verdict = Base.fcm(400, Base.error("INVALID_ARGUMENT", message: message))
        #expect(verdict.kind == kind)
        #expect((verdict.evidence == .tokenMessage) == (kind == .tokenInvalid))
    }

    @Test(
        arguments: [
            ("Unregistered", .tokenInvalid), ("BadDeviceToken", .tokenInvalid), ("ExpiredToken", .tokenInvalid),
            ("PayloadTooLarge", .payload), ("PayloadEmpty", .payload), ("BadCollapseId", .payload),
            ("BadExpirationDate", .payload), ("BadPriority", .payload), ("InvalidPushType", .payload),
            // FCM chooses the topic unless the message does.
            ("BadTopic", .payload), ("MissingTopic", .payload), ("TopicDisallowed", .payload),
            ("DeviceTokenNotForTopic", .permanent),
            ("InvalidProviderToken", .authConfig), ("BadEnvironmentKeyInToken", .authConfig),
            ("BadEnvironmentKeyIdInToken", .authConfig), ("ExpiredProviderToken", .authConfig),
            ("TooManyProviderTokenUpdates", .authConfig),
            ("TooManyRequests", .retry), ("InternalServerError", .retry), ("ServiceUnavailable", .retry),
            ("Service Unavailable", .retry), ("Shutdown", .retry), ("IdleTimeout", .retry), ("Novelty", .payload),
        ] as [(String, VerdictClass)])
    func `what APNs said to FCM`(_ reason: String, _ kind: VerdictClass) {
        let verdict = Base.fcm(
            400, Base.error("INVALID_ARGUMENT", Self.apnsError(reason) + "," + Base.detail("INVALID_ARGUMENT")))
        #expect(verdict.kind == kind)
        #expect(verdict.code == reason.filter { $0 != " " })
        #expect(!verdict.asksForNewCredentials)
        if kind == .retry {
            let told = Base.fcm(400, Base.error("INVALID_ARGUMENT", Self.apnsError(reason)), retryAfter: "9")
            #expect(told.kind == .retryAfter && told.retryAfterSeconds == 9)
        }
        // A dead token is dead also where the FcmError is missing; nothing else in an ApnsError changes a 404.
        let missing = Base.fcm(404, Base.error("NOT_FOUND", Self.apnsError(reason)))
        #expect(missing.kind == (kind == .tokenInvalid ? .tokenInvalid : .permanent))
        for (status, word) in [(503, "UNAVAILABLE"), (500, "INTERNAL"), (429, "RESOURCE_EXHAUSTED")] {
            let verdict = Base.fcm(status, Base.error(word, Self.apnsError(reason)))
            #expect(verdict.kind == .retry || verdict.kind == .retryAfter)
        }
        let unregistered = Base.error("NOT_FOUND", Self.apnsError(reason) + "," + Base.detail("UNREGISTERED"))
        #expect(Base.fcm(404, unregistered).kind == .tokenInvalid)
    }

    // MARK: Bodies of every make

    @Test(arguments: [
        // Twice the same key; a mark of byte order; an array around it; text that was cut in the middle of a character.
        #"{"error":{"message":"a","message":"b","status":"NOT_FOUND","details":[\#(Base.detail("UNREGISTERED"))]}}"#,
        "\u{FEFF}" + Base.error("NOT_FOUND", Base.detail("UNREGISTERED")),
        "[" + Base.error("NOT_FOUND", Base.detail("UNREGISTERED")) + "]",
        Base.error("NOT_FOUND", Base.detail("UNREGISTERED"), message: #"a\ud83d"#),
        Base.error("NOT_FOUND", Base.detail("UNREGISTERED"), message: #"\ude00 \u0000 \\ \ud83d\ude00 \ud83dx"#),
        "  \n" + Base.error("NOT_FOUND", Base.detail("UNREGISTERED")) + "\r\n",
        #"{"\u0065rror":{"details":[\#(Base.detail("UNREGISTERED"))]}}"#,
    ])
    func `an error is read in spite of small faults`(_ body: String) {
        let verdict = Base.fcm(404, body)
        #expect(verdict.kind == .tokenInvalid && verdict.code == "UNREGISTERED")
    }

    @Test func `invalid UTF-8 in a text hides nothing`() {
        let body =
            Array(#"{"error":{"message":""#.utf8) + [0xF0, 0x9F, 0x98]
            + Array(#"","details":[\#(Base.detail("UNREGISTERED"))]}}"#.utf8)
        #expect(Verdict.fcm(ProviderAnswer(status: 404, body: body), now: 0).kind == .tokenInvalid)
    }

    @Test func `the last of two values counts`() {
        let twice = #"{"error":{"status":"NOT_FOUND","status":"UNAVAILABLE"}}"#
        #expect(Base.fcm(404, twice).kind == .retry)
        #expect(Base.apns(400, #"{"reason":"BadTopic","reason":"BadDeviceToken"}"#).code == "BadDeviceToken")
    }

    @Test func `what cannot be read leaves the HTTP status`() {
        let whole = Base.error("NOT_FOUND", Base.detail("UNREGISTERED"))
        for length in 0..<whole.utf8.count {
            #expect(Base.fcm(404, String(decoding: whole.utf8.prefix(length), as: UTF8.self)).kind == .permanent)
        }
        let deep = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
        #expect(Base.fcm(404, deep).kind == .permanent)
        #expect(Base.fcm(404, Base.error("NOT_FOUND", deep + "," + Base.detail("UNREGISTERED"))).kind == .permanent)
        let many = (0..<50_000).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
        #expect(Base.fcm(400, #"{"error":{\#(many)}}"#).kind == .payload)
    }
}
