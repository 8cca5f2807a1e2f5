import Delivery
import Foundation
import Operations
import Testing

@testable import OperatorCore

@Suite struct ExplainLineTests {
    @Test(arguments: [
        #"{"Retry-After":"30"}"#, #"{"RETRY-AFTER":30}"#, #"{"retry-after":["7","30"]}"#, #"{"retry-after":[30]}"#,
        #"{"retry-after":" 30\t"}"#, #"[["Retry-After","30"]]"#, #"[["retry-after",30]]"#, #"["retry-after: 30"]"#,
        #"["Retry-After:30"]"#, #"[{"name":"Retry-After","value":"30"}]"#, #"[["x",["y"]],["retry-after",["30"]]]"#,
        #"[["retry-after","9"],["Retry-After","30"]]"#, #"{"a":null,"retry-after":"30"}"#,
        #""HTTP/2 429\r\nx: y\r\nretry-after: 30\r\n\r\n""#, #"["HTTP/2 429","retry-after: 30"]"#,
    ])
    func headersInTheFormsThatPeopleHave(_ headers: String) throws {
        let result = try ExplainSupport.json(#"{"status":503,"headers":\#(headers)}"#)
        #expect(result["class"] == .string("retry_after") && result["retry_after_s"] == .number("30"))
    }

    @Test(arguments: ["null", "{}", "[]", #""""#, #"{"retry-after":null}"#, #"{"retry-after":""}"#])
    func noHeadersAreNone(_ headers: String) throws {
        #expect(try ExplainSupport.json(#"{"status":503,"headers":\#(headers)}"#)["class"] == .string("retry"))
    }

    @Test(arguments: [
        #""{\"error\":{\"status\":\"UNAVAILABLE\"}}""#, #"{"error":{"status":"UNAVAILABLE"}}"#,
        #"[{"error":{"status":"UNAVAILABLE"}}]"#,
    ])
    func aBodyIsATextOrJSON(_ body: String) throws {
        #expect(try ExplainSupport.json(#"{"status":404,"body":\#(body)}"#)["code"] == .string("UNAVAILABLE"))
    }

    @Test(arguments: ["null", #""""#, "7", "true", #""\ud83d \u0000""#])
    func anyBodyIsFine(_ body: String) throws {
        #expect(try ExplainSupport.json(#"{"status":404,"body":\#(body)}"#)["class"] == .string("permanent"))
    }

    @Test(
        arguments: [
            (#"{"transport_error":7}"#, "retry"), (#"{"transport_error":"56","issued":0}"#, "retry"),
            (#"{"transport_error":"CURLE_RECV_ERROR"}"#, "unknown"), (#"{"transport_error":7,"issued":2}"#, "unknown"),
            (#"{"transport_error":60,"issued":false,"status":null}"#, "auth_config"),
            (#"{"transport_error":56,"status":0}"#, "unknown"), (#"{"transport_error":18,"status":200}"#, "sent"),
            (#"{"transport_error":0,"status":"404"}"#, "permanent"),
            (#"{"transport_error":null,"status":400}"#, "payload"),
            (#"{"transport_error":"OK","status":200,"issued":true}"#, "sent"),
            (#"{"provider":"APNS","status":429}"#, "retry"), (#"{"provider":null,"status":429}"#, "retry_after"),
        ])
    func aTransferWithOrWithoutAnAnswer(_ line: String, _ kind: String) throws {
        #expect(try ExplainSupport.json(line)["class"] == .string(kind))
    }

    @Test func aLineBringsItsOwnClockAttemptAndName() throws {
        let line =
            #"{"status":503,"headers":{"retry-after":"Thu, 01 Jan 1970 00:01:00 GMT"},"now":15,"name":"n","x":[]}"#
        #expect(try ExplainSupport.json(line)["retry_after_s"] == .number("45"))
        #expect(try ExplainSupport.json(line)["name"] == .string("n"))
        let last = try ExplainSupport.json(#"{"status":503,"attempt":10,"name":7}"#)
        #expect(last["state"] == .string("failed") && last["name"] == nil)
        #expect(
            try ExplainSupport.json(#"{"status":503,"attempt":2}"#)["due_in_s"]
                == .array([.number("10"), .number("40")]))
        #expect(try ExplainSupport.json(#"{"status":429}"#, provider: .apns)["provider"] == .string("apns"))
    }

    @Test(
        arguments: [
            ("[]", "not a JSON object"), ("null", "not a JSON object"),
            ("x", "not usable JSON: a value is expected (column 1)"),
            (#"{"status":404"#, "not usable JSON: the text ends inside a value (column 14)"),
            (#"{"status":404,"status":404}"#, "not usable JSON: the key appears twice in one object (column 15)"),
            ("{}", "neither status nor transport_error is there"),
            (#"{"status":null}"#, "neither status nor transport_error is there"),
            (#"{"transport_error":0}"#, "neither status nor transport_error is there"),
            (#"{"status":0}"#, "status must be a whole number from 100 to 599"),
            (#"{"status":600}"#, "status must be a whole number from 100 to 599"),
            (#"{"status":404.5}"#, "status must be a whole number from 100 to 599"),
            (#"{"status":[404]}"#, "status must be a whole number from 100 to 599"),
            (#"{"status":404,"provider":"x"}"#, "provider must be \"fcm\" or \"apns\""),
            (#"{"status":404,"provider":7}"#, "provider must be \"fcm\" or \"apns\""),
            (#"{"status":404,"attempt":0}"#, "attempt must be a whole number from 1 to 1000"),
            (#"{"status":404,"now":"soon"}"#, "now must be seconds since 1970, or a date as HTTP writes it"),
            (
                #"{"transport_error":"x"}"#,
                "transport_error must be a code of libcurl, such as 7 or \"COULDNT_CONNECT\""
            ),
            (
                #"{"transport_error":7,"issued":"x"}"#,
                "issued must be true, false, or how often the request was issued"
            ),
            (
                #"{"status":404,"transport_error":7,"issued":false}"#, "issued is false, and yet there is a status"
            ),
        ])
    func aLineThatCannotBeExplainedSaysWhy(_ line: String, _ reason: String) {
        #expect(ExplainSupport.fault(line)?.reason == reason)
    }

    @Test(arguments: [
        "7", "true", "[7]", #"["no colon"]"#, #"[["a"]]"#, #"[["a","b","c"]]"#, #"[[7,"b"]]"#, #"[{"a":"b"}]"#,
        #"{"a":{"b":"c"}}"#, #"{"a":true}"#, #""no colon""#,
    ])
    func headersInOtherFormsAreRefused(_ headers: String) {
        let fault = ExplainSupport.fault(#"{"status":404,"name":"n","headers":\#(headers)}"#)
        #expect(fault?.reason.hasPrefix("headers must be") == true && fault?.name == "n")
    }

    // MARK: Lines

    @Test func linesThatAreTooLongOrBlankDoNotEndIt() throws {
        let batch = ExplainBatch(defaults: .init(now: 0), isJSON: true)
        let tooLong = [UInt8](repeating: 0x62, count: ExplainBatch.longestLine + 1)
        let text = Array("\u{FEFF}{\"status\":404}\n \t\r\n".utf8) + tooLong + Array("\n{\"status\":503}".utf8)
        try ExplainSupport.withFile(text) { path in
            let file = try InputFile(path, option: "batch")
            let failure = #expect(throws: Failure.self) { try batch.run(file, StandardStream.output) }
            #expect(failure?.what == "1 of 4 lines cannot be explained, the first is line 3")
        }
    }

    @Test func noBytesMakeALineFail() {
        let batch = ExplainBatch(defaults: .init(now: 0), isJSON: true)
        var state: UInt64 = 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let seed = Array(
            #"{"name":"n","status":503,"headers":[["retry-after","Mon, 30 Nov 2026 08:00:30 GMT"]],"body":{"error":{"status":"X"}},"transport_error":7,"issued":1,"now":5}"#
                .utf8)
        for _ in 0..<20_000 {
            var line = seed
            for _ in 0...random(3) {
                let index = random(line.count)
                switch random(3) {
                case 0: line[index] = UInt8(random(256))
                case 1: line.remove(at: index)
                default: line.insert(contentsOf: seed[random(seed.count)...].prefix(random(9)), at: index)
                }
            }
            switch batch.explain(line, number: 1) {
            case .success(let text): #expect((try? JSONValue.parse(Array(text.utf8).span)) != nil)
            case .failure(let fault): #expect(!fault.reason.isEmpty)
            }
        }
    }
}
