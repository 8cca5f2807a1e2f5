import Foundation
import Signing
import Testing

/// RS256 tokens, signed and taken apart again.
@Suite struct JSONWebTokenTests {
    let key: PrivateKey

    init() throws { key = try .generateRSA() }

    @Test func aTokenCanBeTakenApartAndItsSignatureHolds() throws {
        let token = try JSONWebToken.sign(
            header: ["kid": "abc\"1"], claims: ["iss": "push@demo.example", "iat": 1_700_000_000, "note": "\u{1}é\\"],
            with: key)
        let parts = try #require(JSONWebToken.parse([UInt8](token.utf8)))
        #expect(String(decoding: parts.header, as: UTF8.self) == #"{"alg":"RS256","typ":"JWT","kid":"abc\"1"}"#)
        #expect(
            String(decoding: parts.claims, as: UTF8.self)
                == #"{"iss":"push@demo.example","iat":1700000000,"note":"\u0001é\\"}"#)
        #expect(key.verifyRS256(parts.signed, signature: parts.signature))
    }

    @Test func aChangedTokenOrAnotherKeyDoesNotVerify() throws {
        let token = try JSONWebToken.sign(claims: ["iat": 1], with: key)
        let parts = try #require(JSONWebToken.parse([UInt8](token.utf8)))
        var changed = parts.signed
        changed[changed.count - 2] ^= 1
        #expect(!key.verifyRS256(changed, signature: parts.signature))
        #expect(!key.verifyRS256(parts.signed, signature: []))
        #expect(try !PrivateKey.generateRSA().verifyRS256(parts.signed, signature: parts.signature))
        #expect(try !PrivateKey.generateP256().verifyRS256(parts.signed, signature: parts.signature))
    }

    @Test(arguments: ["", "a.b", "YQ.YQ.YQ.YQ", "YQ.Y!.YQ", "YQ==.YQ.YQ", "YQ.YQ.Y"])
    func whatIsNotAThreePartTokenIsRefused(token: String) {
        #expect(JSONWebToken.parse([UInt8](token.utf8)) == nil)
    }
}
