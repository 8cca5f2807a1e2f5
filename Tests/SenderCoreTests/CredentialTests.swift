import Operations
import Signing
import Testing

@testable import SenderCore

@Suite struct CredentialTests {
    private func file(_ change: (inout [(String, String)]) -> Void = { _ in }) throws -> [UInt8] {
        let pem = String(decoding: try PrivateKey.generateRSA().pkcs8PEM(), as: UTF8.self)
        var members = [
            ("type", "service_account"), ("client_email", "a@b"), ("private_key_id", "k1"),
            ("token_uri", "https://127.0.0.1/token"), ("private_key", pem),
        ]
        change(&members)
        let text = members.map { "\"\($0.0)\":\"\($0.1.split(separator: "\n").joined(separator: "\\n"))\"" }
        return Array("{\(text.joined(separator: ","))}".utf8)
    }

    @Test func aKeyFileSignsAGrant() throws {
        let account = try ServiceAccount(json: file(), path: "key.json")
        let grant = String(decoding: try account.grant(now: 1_000), as: UTF8.self)
        let assertion = try #require(grant.split(separator: "=").last)
        let parts = try #require(JSONWebToken.parse(Array(assertion.utf8)))
        #expect(String(decoding: parts.header, as: UTF8.self) == #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#)
        #expect(String(decoding: parts.claims, as: UTF8.self).contains(#""iat":1000,"exp":4600"#))
        #expect(account.key.verifyRS256(parts.signed, signature: parts.signature))
    }

    @Test(arguments: ["type", "client_email", "private_key", "token_uri"])
    func aMissingMemberIsNamed(name: String) throws {
        let json = try file { $0.removeAll { $0.0 == name } }
        let failure = #expect(throws: Failure.self) { try ServiceAccount(json: json, path: "key.json") }
        #expect(failure?.exit == .configuration)
        #expect(failure?.what == "key.json is not a service account's key file: \"\(name)\" is missing")
    }

    @Test(arguments: ["", "{", "[]", "null", "{\"type\":\"authorized_user\"}", "\u{FEFF}{}"])
    func whatIsNoKeyFileIsRefused(text: String) {
        let failure = #expect(throws: Failure.self) { try ServiceAccount(json: Array(text.utf8), path: "key.json") }
        #expect(failure?.exit == .configuration)
    }

    @Test(arguments: [("authorized_user", true), ("-----BEGIN PRIVATE KEY-----", false), ("a\nb", false)])
    func anotherTypeIsShownOnlyWhereItIsAWord(type: String, isShown: Bool) throws {
        let json = try file { members in
            members.removeAll { $0.0 == "type" }
            members.append(("type", type))
        }
        let failure = #expect(throws: Failure.self) { try ServiceAccount(json: json, path: "key.json") }
        #expect(failure?.what.contains(type) == isShown)
    }

    @Test func aGarbledKeyIsRefusedWithoutShowingIt() throws {
        let json = try file { members in
            members.removeAll { $0.0 == "private_key" }
            members.append(("private_key", "-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----"))
        }
        let failure = #expect(throws: Failure.self) { try ServiceAccount(json: json, path: "key.json") }
        #expect(failure?.line.contains("SECRET") == false)
    }

    @Test(arguments: [
        (200, #"{"access_token":"t","expires_in":3599}"#, 3_599),
        (200, #"{"access_token":"t","expires_in":"120"}"#, 120),
        (200, #"{"access_token":"t"}"#, 3_600),
        (200, #"{"access_token":"t","expires_in":9223372036854775807}"#, 86_400),
    ])
    func tokensComeWithTheirLife(status: Int, body: String, lifetime: Int) {
        guard case .token("t", lifetime) = TokenAnswer.judge(status: status, body: Array(body.utf8)) else {
            Issue.record("no token in \(body)")
            return
        }
    }

    @Test func aRefusalInALongTextIsOneShortLine() {
        // One `Character`: a letter with a thousand accents.
        let text = "a\\n" + String(repeating: "\u{301}", count: 1_000)
        let body = #"{"error":"\#(text)","error_description":"\#(text)"}"#
        guard case .failure(let failure) = TokenAnswer.judge(status: 400, body: Array(body.utf8)) else {
            Issue.record("a token in \(body)")
            return
        }
        #expect(failure.what.utf8.count < 800)
        #expect(!failure.what.contains("\n"))
        #expect(failure.exit == .configuration)
    }

    @Test(arguments: [
        (200, #"{"id_token":"x"}"#, ExitCode.configuration), (200, "", .configuration),
        (400, #"{"error":"invalid_grant"}"#, .configuration),
        (401, #"{"error":"invalid_client"}"#, .configuration), (503, "<html>", .unavailable), (429, "", .unavailable),
        (400, #"{"error":"internal_failure"}"#, .unavailable), (400, #"{"error":{"code":1}}"#, .configuration),
    ])
    func refusalsAreTellingWhoseFaultItIs(status: Int, body: String, exit: ExitCode) {
        guard case .failure(let failure) = TokenAnswer.judge(status: status, body: Array(body.utf8)) else {
            Issue.record("a token in \(body)")
            return
        }
        #expect(failure.exit == exit)
    }
}
