import Postgres
import TestSupport
import Testing

@testable import Queue

/// What `todoke.enqueue` refuses: it says where, and what to do, and never shows a whole token.
@Suite(.migratedDatabase) struct EnqueueRefusalTests {
    private static let hello = EnqueueFixture.hello
    private static let token = "a-token-that-nobody-else-may-see"

    @Test(arguments: [
        ("'', 't', '\(hello)'", "notification_id"), ("repeat('x', 501), 't', '\(hello)'", "500 bytes"),
        ("'n', NULL, '\(hello)'", "no target"), ("'n', '', '\(hello)'", "empty"),
        ("'n', 't', '{\"token\":\"u\"}'", "more than one target"),
        ("'n', NULL, '{\"token\":\"u\",\"topic\":\"v\"}'", "more than one"),
        ("'n', NULL, '{\"token\":7}'", "no string"), ("'n', 'a b', '\(hello)', 'topic'", "topic"),
        ("'n', 't', NULL", "no JSON object"), ("'n', 't', '[]'", "no JSON object"),
        ("'n', 't', '{\"message\":{}}'", "message.message is unknown"),
        ("'n', 't', '{\"notification\":{\"titel\":\"x\"}}'", "message.notification.titel"),
        ("'n', 't', '{\"data\":{\"a\":1}}'", "message.data.a is no string"),
        ("'n', 't', '{\"data\":{\"google.x\":\"\"}}'", "message.data.google.x"),
        ("'n', 't', '{\"data\":{\"notification_id\":\"m\"}}'", "message.data.notification_id"),
        ("'n', 't', '{\"android\":{\"ttl\":\"5m\"}}'", "message.android.ttl"),
        ("'n', 't', '{\"android\":[]}'", "message.android is no object"),
        ("'n', 't', '{\"apns\":{\"headers\":{\"apns-priority\":\"7\"}}}'", "apns-priority"),
        ("'n', 't', '{\"apns\":{\"headers\":{\"apns-expiration\":\"9\"}}}', expires_in => '1 hour'", "apns-expiration"),
        ("'n', 't', '{\"android\":{},\"android_v2\":{}}'", "android_v2"),
        ("'n', 't', '{\"notification\":{\"image\":\"https://a/b\"}}', image => 'https://a/c'", "image"),
        ("'n', 't', '{}', image => 'https://a/c'", "image"), ("'n', 't', '\(hello)', image => 'a.png'", "image"),
        ("'n', 't', json_build_object('data', json_build_object('k', repeat('x', 4097)))", "more than 4096"),
        ("'n', 't', json_build_object('data', json_build_object('k', repeat('x', 2049))), 'topic'", "more than 2048"),
        ("'n', 't', '\(hello)', priority => 10", "priority"), ("'n', 't', '\(hello)', due_at => 'infinity'", "due_at"),
        ("'n', 't', '\(hello)', due_at => now() + interval '29 days'", "28 days"),
        ("'n', 't', '\(hello)', due_at => '294276-12-01', expires_in => '300 days'", "28 days"),
        ("'n', 't', '\(hello)', due_at => '4000-01-01 BC', expires_in => '1 day'", "a year ago"),
        ("'n', 't', '\(hello)', expires_in => '178000000 years'", "expires_in"),
        ("'n', 't', '\(hello)', expires_in => '0.5 s'", "expires_in"),
        ("'n', 't', '\(hello)', expires_in => '2 years'", "expires_in"),
        ("'n', 't', '\(hello)', expires_in => '-1 hour'", "expires_in"),
        ("'n', 't', '\(hello)', dedupe_by => ''", "dedupe_by"),
        ("'n', 't', '\(hello)', delivery => 'once'", "delivery"),
    ])
    func `a call that cannot be right is refused with its place and a remedy`(_ arguments: String, _ place: String)
        throws
    {
        let fixture = try EnqueueFixture()
        let error = try fixture.refusal(arguments)
        #expect(error.message.contains(place), "\(error.message)")
        #expect(error.hint?.isEmpty == false)
        #expect(error.sqlState == SQLState(rawValue: "22023"))
        #expect(try fixture.count() == 0)
    }

    @Test(arguments: [
        (#"{"data":{"a":"1","a":"1"}}"#, "message.data.a is there twice"),
        (#"{"notification":{"title":"a"},"notification":{"title":"a"}}"#, "message.notification is there twice"),
        (
            #"{"apns":{"payload":{"own":[{},{"k":"\"\\","\u006b":"\"\\"}]}}}"#,
            "message.apns.payload.own[1].k is there twice"
        ),
        (#"{"apns":{"fcm_options":{},"fcmOptions":{}}}"#, "message.apns.fcm_options is there in two spellings"),
        (#"{"data":{"a":"x\u0000"}}"#, #"message has \u0000 or half a surrogate pair in it"#),
        (#"{"data":{"a":"\ud83d"}}"#, #"message has \u0000 or half a surrogate pair in it"#),
        (#"{"data":{"a":"\udc00x"}}"#, #"message has \u0000 or half a surrogate pair in it"#),
        (#"{"apns":{"payload":{"n":1e999999}}}"#, "message has a number in it that is too large"),
    ])
    func `what json lets through and FCM does not take is refused`(_ message: String, _ text: String) throws {
        let fixture = try EnqueueFixture()
        let whole = #"{"token":"\#(Self.token)",\#(message.dropFirst())"#
        let session = try fixture.session()
        let error = #expect(throws: PostgresError.self) {
            try session.query("SELECT todoke.enqueue($1, 'n', NULL, $2)", [.text(fixture.app), .text(whole)])
        }
        #expect(error?.message == text && error?.hint?.isEmpty == false)
    }

    @Test func `escapes that are only text are no fault`() throws {
        let fixture = try EnqueueFixture()
        let session = try fixture.session()
        let message = #"{"data":{"a":"\\u0000 \ud83d\ude00 \\\" : \"","b":"\"b\":\"\\\\"}}"#
        try session.query("SELECT todoke.enqueue($1, 'n', 't', $2)", [.text(fixture.app), .text(message)])
        #expect(try fixture.count() == 1)
    }

    @Test func `no error shows a whole token`() throws {
        let fixture = try EnqueueFixture(environment: "sandbox")
        let token = Self.token
        for arguments in [
            "'n', '\(token)', '\(Self.hello)'", "'n', '\(token)', '{\"token\":\"\(token)\"}'",
            "'n', NULL, '{\"token\":\"\(token)\",\"data\":{\"a\":\"\\u0000\"}}'",
            "'n', NULL, '{\"token\":\"\(token)\",\"token\":\"\(token)\"}'",
            "'n', NULL, '{\"token\":[\"\(token)\"]}'", "'n', '\(token)', '\(Self.hello)', priority => 11",
        ] {
            let tool = try CommandLineTool([
                "psql", "-X", "-v", "VERBOSITY=verbose", "-v", "SHOW_CONTEXT=always", "-d",
                try ScratchDatabase.shared().name, "-c", "SELECT todoke.enqueue('\(fixture.app)', \(arguments))",
            ])
            #expect(tool.status != 0)
            #expect(!tool.error.contains(token), "\(tool.error)")
            #expect(tool.error.contains("HINT"), "\(tool.error)")
        }
    }

    @Test func `an app that is not there is said with what makes one`() throws {
        let session = try EnqueueFixture().session()
        let error = #expect(throws: PostgresError.self) {
            try session.query("SELECT todoke.enqueue('nobody''s', 'n', 't', '\(Self.hello)')")
        }
        #expect(error?.message.contains("'nobody''s'") == true)
        #expect(error?.hint?.contains("INSERT INTO todoke.apps") == true)
    }

    @Test func `a sandbox app sends to its allowed targets alone`() throws {
        let fixture = try EnqueueFixture(environment: "sandbox")
        let refused = try fixture.refusal("'n', 'mine', '\(Self.hello)'")
        #expect(refused.message.contains("sandbox"))
        // The hint is a statement that works, once the target is filled in.
        try fixture.admin.query(try #require(refused.hint).replacing("'TARGET'", with: "'mine'"))
        #expect(try fixture.enqueue(fixture.session(), "'n', 'mine', '\(Self.hello)'").isNew)
        #expect(try fixture.enqueue(fixture.session(), "'n', NULL, '{\"token\":\"mine\",\"data\":{}}'").isNew == false)
        #expect(try fixture.refusal("'n', 'mine', '\(Self.hello)', 'fid'").message.contains("fid"))
        #expect(try fixture.count() == 1)
    }
}
