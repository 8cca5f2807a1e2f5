import Testing

@testable import Emulator

/// Paths, forms and the request around a message.
@Suite struct RequestPartsTests {
    @Test(arguments: [
        ("POST", "/token", Route.token), ("POST", "/token?x=1", .token), ("GET", "/token", .methodNotAllowed),
        ("POST", "/v1/projects/p-1/messages:send", .send(project: 13..<16)),
        ("POST", "/v1/projects/p-1/messages:send?alt=json", .send(project: 13..<16)),
        ("PUT", "/v1/projects/p-1/messages:send", .methodNotAllowed),
        ("POST", "/v1/projects//messages:send", .notFound), ("POST", "/v1/projects/a/b/messages:send", .notFound),
        ("POST", "/v1/projects/p/messages", .notFound), ("POST", "/", .notFound), ("POST", "", .notFound),
        ("POST", "/v1/projects/messages:send", .notFound),
    ])
    func aPathHasOneMeaning(method: String, path: String, route: Route) {
        #expect(Route(method: [UInt8](method.utf8), path: [UInt8](path.utf8)) == route)
    }

    @Test func aFormIsDecoded() {
        let fields = FormBody.fields([UInt8]("a=1&b=x%3Dy%2B+z&c&=d&e=%zz&f=%4".utf8))
        #expect(fields["a"] == [UInt8]("1".utf8))
        #expect(fields["b"] == [UInt8]("x=y+ z".utf8))
        #expect(fields["c"] == [])
        #expect(fields["e"] == [UInt8]("%zz".utf8))
        #expect(fields["f"] == [UInt8]("%4".utf8))
    }

    @Test(arguments: [
        (#"{"message":{"a":"}\""}}"#, #"{"a":"}\""}"#, false),
        (#" { "validate_only" : true , "message" : { "a" : [ {} , "]" ] } } "#, #"{ "a" : [ {} , "]" ] }"#, true),
        (#"{"validateOnly":false,"message":{}}"#, "{}", false),
        (#"{"message":1,"message":"x"}"#, #""x""#, false),
        (#"{"message":null}"#, "null", false),
        (#"{"message":"\\\\","validate_only":true}"#, #""\\\\""#, true),
        (#"{"message":"\\\"}"}"#, #""\\\"}""#, false),
        ("{}", nil, false),
    ])
    func theMessageIsFound(body: String, message: String?, isValidateOnly: Bool) throws {
        let bytes = [UInt8](body.utf8)
        let envelope = try Envelope(bytes.span)
        #expect(envelope.message.map { String(decoding: bytes[$0], as: UTF8.self) } == message)
        #expect(envelope.isValidateOnly == isValidateOnly)
    }

    @Test(arguments: [
        "", "[]", "1", "{", #"{"message""#, #"{"message":"#, #"{"message":}"#, #"{"message":{"#, #"{"message":{}"#,
        #"{"message":{}}x"#, #"{"message":{},}"#, #"{"message":"x"#, #"{"message":"x\"#, #"{message:1}"#,
        #"{"message":{} "x":1}"#,
    ])
    func brokenTextIsRefused(body: String) {
        #expect(throws: Envelope.Fault.malformed) { try Envelope([UInt8](body.utf8).span) }
    }

    @Test func unknownNamesAndOddFlagsAreNamed() {
        #expect(throws: Envelope.Fault.unknown("mess")) { try Envelope([UInt8](#"{"mess":1}"#.utf8).span) }
        #expect(throws: Envelope.Fault.notBoolean("\"true\"")) {
            try Envelope([UInt8](#"{"validate_only":"true"}"#.utf8).span)
        }
    }
}
