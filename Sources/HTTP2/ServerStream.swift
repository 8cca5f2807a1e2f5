/// One request and its response on a server's connection; the object is used again for later streams.
package final class ServerStream {
    /// The stream's id, or 0 once the stream is closed: a delayed answer compares it before it is given.
    package internal(set) var id: Int32 = 0
    /// Its place among the streams of its connection.
    package let index: Int

    package internal(set) var method: [UInt8] = []
    /// The path with its query, as sent.
    package internal(set) var path: [UInt8] = []
    package internal(set) var authorization: [UInt8] = []
    package internal(set) var contentType: [UInt8] = []
    /// The announced length, when there was a `content-length`.
    package internal(set) var contentLength: Int?
    package internal(set) var body: [UInt8] = []
    /// The body was longer than the server takes, and cut.
    package internal(set) var isBodyCut = false

    /// All headers but the pseudo-headers, while the server keeps them.
    private(set) var headers: [(name: [UInt8], value: [UInt8])] = []

    private(set) var responseBody: [UInt8] = []
    var responseOffset = 0
    /// How much of the body may go out by now.
    var releasedBytes = 0
    /// Keeps the memory that libnghttp2 points into.
    var responseHeaders: HeaderBlock?
    let lengthDigits = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 20)
    var isWaiting = false

    init(index: Int) { self.index = index }

    deinit { lengthDigits.deallocate() }

    func begin(_ id: Int32) {
        self.id = id
        method.removeAll(keepingCapacity: true)
        path.removeAll(keepingCapacity: true)
        authorization.removeAll(keepingCapacity: true)
        contentType.removeAll(keepingCapacity: true)
        contentLength = nil
        body.removeAll(keepingCapacity: true)
        isBodyCut = false
        if !headers.isEmpty { headers.removeAll() }
        responseBody.removeAll(keepingCapacity: true)
        responseOffset = 0
        releasedBytes = 0
        responseHeaders = nil
        isWaiting = false
    }

    func append(_ chunk: UnsafeBufferPointer<UInt8>, limit: Int) {
        let room = limit - body.count
        if chunk.count > room { isBodyCut = true }
        body.append(contentsOf: UnsafeBufferPointer(rebasing: chunk.prefix(max(0, room))))
    }

    /// A header by its lower-case name, while the server keeps them; the first of several.
    package func header(_ name: String) -> [UInt8]? {
        headers.first { $0.name.elementsEqual(name.utf8) }?.value
    }

    /// What the response carries; comes before the response is submitted.
    package func setResponseBody(_ body: [UInt8]) {
        responseBody.removeAll(keepingCapacity: true)
        responseBody.append(contentsOf: body)
    }

    func keepHeader(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard name.first != UInt8(ascii: ":") else { return }
        headers.append((Array(name), Array(value)))
    }

    /// Keeps the headers that a request is judged by, and drops the others.
    func setHeader(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        switch name.count {
        case 5 where Self.equals(name, ":path"): path.append(contentsOf: value)
        case 7 where Self.equals(name, ":method"): method.append(contentsOf: value)
        case 12 where Self.equals(name, "content-type"): contentType.append(contentsOf: value)
        case 13 where Self.equals(name, "authorization"): authorization.append(contentsOf: value)
        case 14 where Self.equals(name, "content-length"):
            contentLength = Int(String(decoding: value, as: UTF8.self))
        default: break
        }
    }

    private static func equals(_ name: UnsafeBufferPointer<UInt8>, _ expected: StaticString) -> Bool {
        guard name.count == expected.utf8CodeUnitCount else { return false }
        for index in name.indices where name[index] != expected.utf8Start[index] { return false }
        return true
    }

    /// Writes `value` in decimal into `lengthDigits`; gives back the part that was written.
    func digits(of value: Int) -> UnsafeMutableBufferPointer<UInt8> {
        var position = lengthDigits.count
        var rest = value
        repeat {
            position -= 1
            lengthDigits[position] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        } while rest > 0
        return UnsafeMutableBufferPointer(rebasing: lengthDigits[position...])
    }
}
