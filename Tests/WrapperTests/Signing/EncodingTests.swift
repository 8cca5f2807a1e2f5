import Foundation
import Signing
import Testing

/// Base64url and SHA-256 against published values and Foundation's own.
@Suite struct EncodingTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy"),
    ])
    func base64URLIsRFC4648(text: String, encoded: String) {
        #expect(Base64URL.encode([UInt8](text.utf8)) == encoded)
        #expect(Base64URL.decode(encoded.utf8) == [UInt8](text.utf8))
    }

    @Test func base64URLGoesBothWaysForAllBytes() {
        for count in 0..<300 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
    }

    @Test(arguments: ["Z", "Zh", "Zm9=", "Zm 9", "Zm9v+", "Zm9v/"])
    func otherTextIsRefused(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func sha256IsTheStandards(text: String, hex: String) throws {
        let bytes = [UInt8](text.utf8)
        #expect(SHA256.hex(bytes.span) == hex)
        let hasher = try SHA256Hasher()
        var output: [UInt8] = []
        for _ in 0..<3 {
            try hasher.digest(bytes.span, into: &output)
            #expect(output == SHA256.digest(bytes.span))
        }
        try hasher.start()
        for byte in bytes { try hasher.update([byte].span) }
        try hasher.finish(into: &output)
        #expect(output == SHA256.digest(bytes.span))
    }
}
