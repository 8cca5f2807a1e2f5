/// The path and the query of a control request, decoded.
struct ControlQuery {
    let path: String
    /// In the order in which they came.
    let fields: [(name: String, value: String)]

    init(_ target: [UInt8]) {
        let question = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
        path = String(decoding: Self.unescaped(target[..<question], plusIsSpace: false), as: UTF8.self)
        fields = target[min(question + 1, target.count)...].split(separator: UInt8(ascii: "&")).map { part in
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            return (
                String(decoding: Self.unescaped(part[..<equals], plusIsSpace: true), as: UTF8.self),
                String(
                    decoding: Self.unescaped(part[equals...].dropFirst(), plusIsSpace: true), as: UTF8.self)
            )
        }
    }

    func value(_ name: String) -> String? { fields.last { $0.name == name }?.value }

    /// The first name that is none of these.
    func firstUnknown(_ known: [String]) -> String? { fields.first { !known.contains($0.name) }?.name }

    /// The field as a whole number, the default without it.
    func integer(_ name: String, in range: ClosedRange<Int>, default missing: Int) throws(ControlError) -> Int {
        guard let text = value(name) else { return missing }
        guard let number = Int(text), range.contains(number) else {
            throw ControlError(
                400, "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"",
                remedy: "for example \(name)=\(missing)")
        }
        return number
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            // `UInt8` alone would take "+1" and "-0" for two digits.
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                rest.prefix(2).allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return result
    }
}
