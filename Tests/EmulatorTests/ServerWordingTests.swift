import Delivery
import Testing

@testable import Emulator

/// Refusals in the words of the real server.
@Suite struct ServerWordingTests {
    @Test(arguments: [
        (
            #"{"token":"t","data":{"a":"x","n":12}}"#, "message.data[1].value",
            "Invalid value at 'message.data[1].value' (TYPE_STRING), 12"
        ),
        (
            #"{"token":"t","x":1}"#, "message",
            "Invalid JSON payload received. Unknown name \"x\" at 'message': Cannot find field."
        ),
        (
            #"{"token":"t","notification":{"sound":"s"}}"#, "message.notification",
            "Invalid JSON payload received. Unknown name \"sound\" at 'message.notification': Cannot find field."
        ),
        (
            #"{"token":"t","notification":{"title":1}}"#, "message.notification.title",
            "Invalid value at 'message.notification.title' (TYPE_STRING), 1"
        ),
        (
            #"{"token":"t","android":{"direct_boot_ok":"yes"}}"#, "message.android.direct_boot_ok",
            "Invalid value at 'message.android.direct_boot_ok' (TYPE_BOOL), \"yes\""
        ),
        (
            #"{"token":"t","android":{"ttl":3600}}"#, "message.android.ttl",
            "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), 3600"
        ),
        (
            #"{"token":"t","android":{"priority":"urgent"}}"#, "message.android.priority",
            "Invalid value at 'message.android.priority' "
                + "(type.googleapis.com/google.firebase.fcm.v1.AndroidMessagePriority), \"urgent\""
        ),
        (#"{"token":"t","data":{"from":"x"}}"#, "message.data.from", "Invalid data payload key: from"),
        (
            #"{"token":"t","data":{"google.ttl":"x"}}"#, "message.data.google.ttl",
            "Invalid data payload key: google.ttl"
        ),
        (
            #"{"token":"t","token":"u"}"#, "message",
            "Invalid JSON payload received. Field 'token' is set twice at 'message'."
        ),
        (#"{"data":{}}"#, "message", "Recipient of the message is not set."),
        (
            #"{"token":"t","topic":"u"}"#, "message",
            "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set 'topic'"
        ),
        (
            #"{"token":"t","data":{"a":"\#(String(repeating: "x", count: 4096))"}}"#, "message",
            "Message is too large. The maximum is 4K (4096 bytes)."
        ),
    ])
    func aFaultIsToldAsTheServerTellsIt(message: String, field: String, description: String) throws {
        let bytes = [UInt8](message.utf8)
        let issue = try #require(MessageRules.check(bytes.span).errors.first)
        let violation = ServerWording(message: bytes.span).violation(issue)
        #expect(violation.field == field)
        #expect(violation.description == description)
    }

    @Test func brokenJSONIsSaidToBeSo() throws {
        let bytes = [UInt8](#"{"token":"t",}"#.utf8)
        let issue = try #require(MessageRules.check(bytes.span).errors.first)
        let violation = ServerWording(message: bytes.span).violation(issue)
        #expect(violation.description.hasPrefix("Invalid JSON payload received."))
    }

    @Test(arguments: [
        (
            #"{"token":"t","apns":{"payload":{"aps":{"alert":"\#(String(repeating: "a", count: 4096))"}}}}"#,
            "iOS message is too big"
        ),
        (
            #"{"token":"t","android":{"data":{"k":"\#(String(repeating: "a", count: 4096))"}}}"#,
            "Android message is too big"
        ),
        (
            #"{"token":"t","data":{"k":"\#(String(repeating: "a", count: 4096))"}}"#,
            "Message is too large. The maximum is 4K (4096 bytes)."
        ),
    ])
    func `what is too big is called so`(_ text: String, _ description: String) throws {
        let message = Array(text.utf8)
        let issue = try #require(MessageRules.check(message.span).errors.first)
        #expect(ServerWording(message: message.span).violation(issue).description == description)
    }

    @Test func `a violation by the text as a whole names no field`() throws {
        var body: [UInt8] = []
        SendRefusal.invalid([("", "Invalid JSON payload received."), ("message.topic", "x")]).error.write(to: &body)
        let details = try JSONValue.parse(body.span)["error"]?["details"]?.arrayValue
        let violations = details?.first?["fieldViolations"]?.arrayValue ?? []
        #expect(violations.map { $0["field"]?.stringValue } == [nil, "message.topic"])
    }
}
