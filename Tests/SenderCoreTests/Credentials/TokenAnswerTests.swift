import Operations
import Testing

@testable import SenderCore

/// What the token endpoint and the metadata server may answer.
@Suite struct TokenAnswerTests {
    private static let server = MetadataServer(
        host: "metadata.google.internal", probeHost: "169.254.169.254", timeoutMilliseconds: 3_000)
    private let user: Credential

    init() throws {
        user = try Credential(
            json: Array(
                #"{"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"r"}"#.utf8),
            path: "user.json")
    }

    private func failure(
        _ status: Int, _ body: String, retryAfter: String? = nil, date: String? = nil, of credential: Credential? = nil
    ) -> (failure: Failure, wait: Int?)? {
        let reply = TokenReply(status: status, body: Array(body.utf8), retryAfter: retryAfter, date: date)
        // 2026-11-30 10:00:00 UTC
        guard
            case .failure(let failure, let wait) = TokenAnswer.judge(reply, of: credential ?? user, now: 1_796_032_800)
        else {
            Issue.record("a token in \(body)")
            return nil
        }
        return (failure, wait)
    }

    @Test(arguments: [
        (#"{"access_token":"t","expires_in":3599}"#, 3_599),
        (#"{"access_token":"t","expires_in":"120","token_type":"bearer"}"#, 120),
        (#"{"access_token":"t","expires_in":3599.5}"#, 3_599), (#"{"access_token":"t","expires_in":1e2}"#, 100),
        (#"{"access_token":"t"}"#, 3_600), (#"{"access_token":"t","expires_in":"soon"}"#, 3_600),
        (#"{"access_token":"t","expires_in":"nan"}"#, 3_600), (#"{"access_token":"t","expires_in":-5}"#, 1),
        (#"{"access_token":"t","expires_in":0}"#, 1),
        (#"{"access_token":"t","expires_in":9223372036854775807}"#, 86_400),
        (#"{"access_token":"t","expires_in":1e400}"#, 86_400),
    ])
    func tokensComeWithTheirLife(body: String, lifetime: Int) {
        let reply = TokenReply(status: 200, body: Array(body.utf8))
        guard case .token("t", lifetime) = TokenAnswer.judge(reply, of: user, now: 0) else {
            Issue.record("no token, or another life, in \(body)")
            return
        }
    }

    @Test(arguments: [
        (200, #"{"id_token":"x"}"#, ExitCode.configuration), (200, "", .configuration),
        (200, "<html>Sign in</html>", .configuration), (200, #"{"access_token":"a\r\nX: y"}"#, .configuration),
        (200, #"{"access_token":""}"#, .configuration), (200, #"{"access_token":5}"#, .configuration),
        (200, #"{"access_token":"t","token_type":"mac"}"#, .configuration), (302, "", .configuration),
        (404, "<html>", .configuration), (400, #"{"error":"invalid_grant"}"#, .configuration),
        (401, #"{"error":"invalid_client"}"#, .configuration), (400, #"{"error":{"code":1}}"#, .configuration),
        (500, "", .unavailable), (502, "<html>", .unavailable), (503, "<html>", .unavailable), (429, "", .unavailable),
        (408, "", .unavailable), (400, #"{"error":"internal_failure"}"#, .unavailable),
    ])
    func refusalsAreTellingWhoseFaultItIs(status: Int, body: String, exit: ExitCode) {
        #expect(self.failure(status, body)?.failure.exit == exit)
    }

    @Test func aRefusalNamesTheFileAndTheRemedy() throws {
        let dead = #"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#
        let failure = try #require(self.failure(400, dead)?.failure)
        #expect(
            failure.what == "the token endpoint oauth2.googleapis.com refused the user of user.json: "
                + "invalid_grant: Token has been expired or revoked.")
        #expect(failure.remedy == "run gcloud auth application-default login again, and send SIGHUP")
    }

    @Test func aMachineWithoutAnAccountIsTold() throws {
        let failure = try #require(self.failure(404, "not found", of: .metadataServer(Self.server))?.failure)
        #expect(failure.what.contains("metadata.google.internal") && failure.what.contains("HTTP 404"))
        #expect(failure.remedy.contains("attach a service account"))
    }

    @Test(arguments: [
        ("7", nil, 7), ("100000", nil, 3_600), ("soon", nil, nil), (nil, nil, nil),
        // By the server's own clock, which is 100 s behind this one.
        ("Mon, 30 Nov 2026 09:58:30 GMT", "Mon, 30 Nov 2026 09:58:20 GMT", 10),
    ])
    func retryAfterIsFollowed(retryAfter: String?, date: String?, wait: Int?) {
        #expect(self.failure(429, "", retryAfter: retryAfter, date: date)?.wait == wait)
    }

    @Test(arguments: [
        ("Mon, 30 Nov 2026 09:53:08 GMT", "412 s ahead of"), ("Mon, 30 Nov 2026 10:01:00 GMT", "60 s behind"),
        ("Mon, 30 Nov 2026 09:59:01 GMT", nil), ("Mon, 30 Nov 2026 10:00:00 GMT", nil), ("yesterday", nil), (nil, nil),
    ])
    func aSkewedClockIsNamed(date: String?, words: String?) throws {
        let times =
            #"{"error":"invalid_grant","error_description":"… Check your iat and exp values in the JWT claim."}"#
        let failure = try #require(self.failure(400, times, date: date)?.failure)
        if let words {
            #expect(failure.what.hasSuffix("; this machine's clock is \(words) Google's"))
        } else {
            #expect(!failure.what.contains("clock"))
        }
    }

    @Test func aRefusalInALongTextIsOneShortLine() throws {
        // One `Character`: a letter with a thousand accents.
        let text = "a\\n" + String(repeating: "\u{301}", count: 1_000)
        let failure = try #require(self.failure(400, #"{"error":"\#(text)","error_description":"\#(text)"}"#)?.failure)
        #expect(failure.what.utf8.count < 800)
        #expect(!failure.what.contains("\n"))
        #expect(failure.exit == .configuration)
    }
}
