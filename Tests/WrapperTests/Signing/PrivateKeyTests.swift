import Foundation
import Signing
import Testing

/// Keys in and out of PEM, and errors that give nothing away.
@Suite struct PrivateKeyTests {
    @Test func aKeySurvivesPKCS8() throws {
        let key = try PrivateKey.generateRSA()
        let pem = try key.pkcs8PEM()
        #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let again = try PrivateKey(pem: pem)
        let message = [UInt8]("届け".utf8)
        let signature = try again.signRS256(message)
        #expect(signature.count == 256)
        #expect(key.verifyRS256(message, signature: signature))
    }

    @Test func garbageIsRefusedWithoutBeingRepeated() throws {
        var pem = try String(decoding: PrivateKey.generateRSA().pkcs8PEM(), as: UTF8.self)
        pem.replace("MII", with: "XXX", maxReplacements: 1)
        for text in [pem, "", "secret", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            let error = #expect(throws: SigningError.self) { try PrivateKey(pem: [UInt8](text.utf8)) }
            let message = try #require(error).message
            #expect(message.hasPrefix("the private key cannot be read"))
            #expect(!message.contains("secret") && message.count < 120)
        }
    }

    @Test func anEncryptedKeyIsRefusedInsteadOfAskingForAPassphrase() throws {
        let pem = """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg0ImtM2kB7KAICCAAw
            DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEELaNPwaYJmHfZP0y4TXoPhcEgZDR
            -----END ENCRYPTED PRIVATE KEY-----
            """
        #expect(throws: SigningError.self) { try PrivateKey(pem: [UInt8](pem.utf8)) }
    }

    @Test func onlyRSASignsRS256() throws {
        let key = try PrivateKey.generateP256()
        #expect(!key.isRSA)
        #expect(throws: SigningError("the private key is not an RSA key, which RS256 needs")) {
            try key.signRS256([1, 2, 3])
        }
    }
}
