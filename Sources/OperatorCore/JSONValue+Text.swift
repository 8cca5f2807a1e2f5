import Delivery

extension JSONValue {
    static func integer(_ number: Int) -> JSONValue { .number("\(number)") }

    /// Compact, on one line.
    var text: String {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
