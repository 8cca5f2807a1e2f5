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
        guard line.count > 8 else { return }
        // No header has a slash at this place of its name.
        if line[0] == UInt8(ascii: "H"), line[4] == UInt8(ascii: "/") {
            reset()
            version = HTTPVersion(statusLine: line)
            let code = Self.code(line)
            // 1xx is followed by the real status.
            status = code >= 200 ? code : 0
            return
        }
        // One look at the first letter sorts out most; nearly every response has the last two: their memory is used again.
        switch line[0] | 0x20 {
        case UInt8(ascii: "r"): Self.keep("retry-after", of: line, in: &retryAfter)
        case UInt8(ascii: "c"): Self.keep("content-type", of: line, in: &contentType)
        case UInt8(ascii: "d"): Self.keep("date", of: line, in: &date)
        default: break
        }
    }

    private static func code(_ line: UnsafeRawBufferPointer) -> Int {
        guard let space = line.firstIndex(of: 0x20) else { return 0 }
        var code = 0
        for byte in line[(space + 1)...].prefix(3) {
            guard (48...57).contains(byte) else { return 0 }
            code = code * 10 + Int(byte - 48)
        }
        return code
    }

    /// Compares without regard to case: HTTP/1 servers write `Retry-After`.
    private static func keep(_ name: StaticString, of line: UnsafeRawBufferPointer, in field: inout [UInt8]) {
        let length = name.utf8CodeUnitCount
        guard line.count > length, line[length] == UInt8(ascii: ":") else { return }
        for index in 0..<length where line[index] | 0x20 != name.utf8Start[index] | 0x20 { return }
        var start = length + 1
        var end = line.count
        while start < end, line[start] <= 0x20 { start += 1 }
        while end > start, line[end - 1] <= 0x20 { end -= 1 }
        field.removeAll(keepingCapacity: true)
        field.append(contentsOf: line[start..<end])
    }
}
