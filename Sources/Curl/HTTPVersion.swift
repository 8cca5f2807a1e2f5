/// The protocol of an answer.
package enum HTTPVersion: Sendable {
    case http1, http2, other

    /// Reads the start of a status line: `HTTP/2 200`.
    init(statusLine line: UnsafeRawBufferPointer) {
        let major = line.count > 5 ? line[5] : 0
        self = major == UInt8(ascii: "2") ? .http2 : major == UInt8(ascii: "1") ? .http1 : .other
    }
}
