/// Compact JSON web tokens (RFC 7519) with RS256 signatures, as Google's token endpoint takes them.
package enum JSONWebToken {
    /// A header field or a claim.
    package enum Value: Equatable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case string(String)
        case int(Int)

        package init(stringLiteral value: String) { self = .string(value) }
        package init(integerLiteral value: Int) { self = .int(value) }
    }

    /// A token taken apart; nothing about it has been checked but its form.
    package struct Parts: Equatable, Sendable {
        /// The header's JSON.
        package let header: [UInt8]
        /// The claims' JSON.
        package let claims: [UInt8]
        /// What the signature covers: the two encoded parts and the dot between them.
        package let signed: [UInt8]
        package let signature: [UInt8]
    }

    /// A signed token with the header fields and claims in the order given; `alg` and `typ` are added in front.
    package static func sign(
        header: KeyValuePairs<String, Value> = [:], claims: KeyValuePairs<String, Value>, with key: PrivateKey
    ) throws(SigningError) -> String {
        let fields = [("alg", Value.string("RS256")), ("typ", "JWT")] + header.map { ($0.key, $0.value) }
        let signed = "\(Base64URL.encode(json(fields))).\(Base64URL.encode(json(claims.map { ($0.key, $0.value) })))"
        return try "\(signed).\(Base64URL.encode(key.signRS256([UInt8](signed.utf8))))"
    }

    /// The three parts of a compact token, or nil when it has not three, or one is not base64url.
    package static func parse(_ token: [UInt8]) -> Parts? {
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { return nil }
        return Parts(header: header, claims: claims, signed: Array(token[..<parts[1].endIndex]), signature: signature)
    }

    private static func json(_ fields: [(String, Value)]) -> [UInt8] {
        var text: [UInt8] = [UInt8(ascii: "{")]
        for (name, value) in fields {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            append(quoted: name, to: &text)
            text.append(UInt8(ascii: ":"))
            switch value {
            case .string(let string): append(quoted: string, to: &text)
            case .int(let int): text.append(contentsOf: String(int).utf8)
            }
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static func append(quoted string: String, to text: inout [UInt8]) {
        let digits = [UInt8]("0123456789abcdef".utf8)
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 0..<0x20:
                text.append(contentsOf: "\\u00".utf8)
                text.append(digits[Int(byte >> 4)])
                text.append(digits[Int(byte & 15)])
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}
