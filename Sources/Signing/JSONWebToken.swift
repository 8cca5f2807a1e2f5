import Delivery

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
        let members = fields.map { name, value in
            switch value {
            case .string(let text): JSONValue.Member(name, .string(text))
            case .int(let number): JSONValue.Member(name, .number(String(number)))
            }
        }
        var text: [UInt8] = []
        JSONValue.object(members).write(into: &text)
        return text
    }
}
