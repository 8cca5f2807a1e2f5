import Delivery
import Signing

@testable import Emulator

extension FuzzTarget {
    /// The body of a form: what was read, written anew, is read as the same.
    static let form = FuzzTarget("form", longest: 2048) { input in
        let fields = FormBody.fields(input.array)
        let pairs = fields.map { "\(escaped(Array($0.key.utf8)))=\(escaped($0.value))" }
        expect(FormBody.fields(Array(pairs.joined(separator: "&").utf8)) == fields, "written anew it is another form")
    }

    /// A signed assertion: as it is, and as header and claims on two lines that are encoded first.
    static let assertion = FuzzTarget("assertion", longest: 2048) { input in
        let bytes = input.array
        if let parts = JSONWebToken.parse(bytes) {
            expect(bytes.starts(with: parts.signed), "what is signed is not what came")
            let encoded = [parts.header, parts.claims, parts.signature].map { Base64URL.encode($0) }
            expect(encoded.joined(separator: ".").utf8.elementsEqual(bytes), "two texts for one token")
        }
        _ = Assertion(bytes)
        let lines = bytes.lines
        guard lines.count == 2 else { return }
        let token = "\(Base64URL.encode(lines[0])).\(Base64URL.encode(lines[1])).AAAA"
        guard let parts = JSONWebToken.parse(Array(token.utf8)) else { fail("our own token cannot be read") }
        expect(parts.header == lines[0] && parts.claims == lines[1], "encoded and decoded it is another token")
        _ = Assertion(Array(token.utf8))
    }

    private static func escaped(_ bytes: [UInt8]) -> String {
        bytes.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
