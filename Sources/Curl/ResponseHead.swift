/// What is kept of a response's header lines.
struct ResponseHead {
    /// The final status; 0 until it has come.
    private(set) var status = 0
    private(set) var version: HTTPVersion?
    private(set) var retryAfter: [UInt8] = []
    private(set) var date: [UInt8] = []
    private(set) var contentType: [UInt8] = []

    /// Keeps the memory of the last response.
    mutating func reset() {
        status = 0
        version = nil
        retryAfter.removeAll(keepingCapacity: true)
        date.removeAll(keepingCapacity: true)
        contentType.removeAll(keepingCapacity: true)
    }

    /// Takes one line with its line end, as libcurl hands it over.
    mutating func append(_ line: UnsafeRawBufferPointer) {
        if line.count > 8, line.starts(with: Self.statusLine) {
            reset()
            version = HTTPVersion(statusLine: line)
            let code = Self.code(line)
            // 1xx is followed by the real status.
            status = code >= 200 ? code : 0
            return
        }
        if let value = Self.value(of: "retry-after", in: line) { retryAfter = value }
        if let value = Self.value(of: "date", in: line) { date = value }
        if let value = Self.value(of: "content-type", in: line) { contentType = value }
    }

    private static let statusLine = Array("HTTP/".utf8)

    private static func code(_ line: UnsafeRawBufferPointer) -> Int {
        guard let space = line.firstIndex(of: 0x20) else { return 0 }
        var code = 0
        for byte in line[(space + 1)...].prefix(3) {
            guard (48...57).contains(byte) else { return 0 }
            code = code * 10 + Int(byte - 48)
        }
        return code
    }

    /// Compares without regard to case; HTTP/1 servers write `Retry-After`.
    private static func value(of name: StaticString, in line: UnsafeRawBufferPointer) -> [UInt8]? {
        let length = name.utf8CodeUnitCount
        guard line.count > length, line[length] == UInt8(ascii: ":") else { return nil }
        for index in 0..<length where line[index] | 0x20 != name.utf8Start[index] | 0x20 { return nil }
        var value = line[(length + 1)...]
        while let first = value.first, first <= 0x20 { value = value.dropFirst() }
        while let last = value.last, last <= 0x20 { value = value.dropLast() }
        return Array(value)
    }
}
