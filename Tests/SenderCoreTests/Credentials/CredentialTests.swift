import Curl
import Operations
import Signing
import Testing

@testable import SenderCore

/// Key files: what is taken, and what is said about the rest.
@Suite struct CredentialTests {
    private static let pem =
        (try? PrivateKey.generateRSA().pkcs8PEM()).map { String(decoding: $0, as: UTF8.self) } ?? ""

    private static let serviceAccount = [
        "type": "service_account", "client_email": "a@b", "private_key_id": "k1",
        "token_uri": "https://127.0.0.1/token", "private_key": pem,
    ]
    private static let user = [
        "type": "authorized_user", "client_id": "c&1", "client_secret": "s e", "refresh_token": "1//r+=",
    ]

    private func json(_ members: [String: String]) -> [UInt8] {
        let text = members.map { "\"\($0.key)\":\"\($0.value.split(separator: "\n").joined(separator: "\\n"))\"" }
        return Array("{\(text.joined(separator: ","))}".utf8)
    }

    private func failure(_ members: [String: String]) -> Failure? {
        #expect(throws: Failure.self) { try Credential(json: json(members), path: "key.json") }
    }

    @Test func aServiceAccountSignsAGrant() throws {
        let credential = try Credential(json: json(Self.serviceAccount), path: "key.json")
        guard case .serviceAccount(let account) = credential else {
            Issue.record("another kind: \(credential.name)")
            return
        }
        let request = try credential.tokenRequest(now: 1_000)
        #expect(request.url == "https://127.0.0.1/token" && request.method == .post)
        let form = String(decoding: request.body, as: UTF8.self)
        #expect(form.hasPrefix("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="))
        let assertion = try #require(form.split(separator: "=").last)
        let parts = try #require(JSONWebToken.parse(Array(assertion.utf8)))
        #expect(String(decoding: parts.header, as: UTF8.self) == #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#)
        #expect(String(decoding: parts.claims, as: UTF8.self).contains(#""iat":1000,"exp":4600"#))
        #expect(account.key.verifyRS256(parts.signed, signature: parts.signature))
        #expect(credential.name == "service account a@b (key.json)")
    }

    @Test func aUserRefreshesAtGoogle() throws {
        let credential = try Credential(json: json(Self.user), path: "user.json")
        let request = try credential.tokenRequest(now: 1_000)
        #expect(request.url == "https://oauth2.googleapis.com/token" && request.method == .post)
        #expect(request.headers == ["Content-Type: application/x-www-form-urlencoded"])
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == "grant_type=refresh_token&client_id=c%261&client_secret=s%20e&refresh_token=1%2F%2Fr%2B%3D")
        #expect(credential.quotaProject == nil)
        // Neither its name nor a debugger's view of it shows a secret.
        var text = "\(credential) \(credential.name)"
        dump(credential, to: &text)
        #expect(!text.contains("s e") && !text.contains("1//r+="))
    }

    @Test func theQuotaProjectIsTheFiles() throws {
        let user = Self.user.merging(["quota_project_id": "example.com:p-1"]) { $1 }
        #expect(try Credential(json: json(user), path: "user.json").quotaProject == "example.com:p-1")
        let broken = Self.user.merging(["quota_project_id": #"p\r\nX-Evil: 1"#]) { $1 }
        #expect(self.failure(broken)?.what.contains("quota_project_id") == true)
    }

    @Test(arguments: [
        (serviceAccount, "type"), (serviceAccount, "client_email"), (serviceAccount, "private_key"),
        (serviceAccount, "private_key_id"), (serviceAccount, "token_uri"), (user, "client_id"), (user, "client_secret"),
        (user, "refresh_token"),
    ])
    func aMissingMemberIsNamed(file: [String: String], name: String) throws {
        var members = file
        members[name] = nil
        let missing = self.failure(members)
        #expect(missing?.exit == .configuration)
        #expect(missing?.what == "key.json cannot be used as credentials: \"\(name)\" is missing")
        members[name] = ""
        #expect(self.failure(members) == missing)
    }

    @Test(arguments: ["", "{", "[]", "null", "{\"type\":5}", "\u{FEFF}{}", "<html>"])
    func whatIsNoKeyFileIsRefused(text: String) {
        let failure = #expect(throws: Failure.self) { try Credential(json: Array(text.utf8), path: "key.json") }
        #expect(failure?.exit == .configuration)
    }

    @Test(arguments: [
        "external_account", "external_account_authorized_user", "impersonated_service_account", "gdch_service_account",
    ])
    func whatTodokeCannotUseIsRefusedByName(type: String) {
        let failure = self.failure(["type": type])
        #expect(failure?.exit == .configuration)
        #expect(failure?.what == "key.json is of type \"\(type)\", which Todoke cannot use")
    }

    @Test(arguments: [("something_new", true), ("-----BEGIN PRIVATE KEY-----", false), ("a\\nb", false)])
    func anotherTypeIsShownOnlyWhereItIsAWord(type: String, isShown: Bool) {
        let failure = self.failure(["type": type])
        #expect(failure?.exit == .configuration)
        #expect(failure?.what.contains(type) == isShown)
    }

    @Test(arguments: ["http://oauth2.googleapis.com/token", "file:///etc/passwd", "token", "https://u:p@h/"])
    func aTokenURLInClearTextIsRefused(url: String) {
        for file in [Self.serviceAccount, Self.user] {
            let failure = self.failure(file.merging(["token_uri": url]) { $1 })
            #expect(failure?.what.contains("\"token_uri\"") == true)
        }
    }

    @Test func anotherUniverseIsRefused() throws {
        for file in [Self.serviceAccount, Self.user] {
            let other = self.failure(file.merging(["universe_domain": "example.goog"]) { $1 })
            #expect(other?.what.contains("universe") == true)
            let own = file.merging(["universe_domain": "googleapis.com"]) { $1 }
            _ = try Credential(json: json(own), path: "key.json")
        }
    }

    @Test func aGarbledKeyIsRefusedWithoutShowingIt() throws {
        var members = Self.serviceAccount
        members["private_key"] = "-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----"
        #expect(self.failure(members)?.line.contains("SECRET") == false)
        members["private_key"] = try String(decoding: PrivateKey.generateP256().pkcs8PEM(), as: UTF8.self)
        #expect(self.failure(members)?.what.hasSuffix("\"private_key\" is not an RSA key") == true)
    }
}
