import Operations

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `accepted.ndjson`: every message that was accepted, or every Nth, in order, written before its answer is.
final class AcceptedLog {
    private let descriptor: Int32
    private let projectParts: [[UInt8]]
    private var buffer: [UInt8] = []
    private var timePart: [UInt8] = []
    private var prefixTime: WallTime?
    private let interval: Int
    private var skipped = 0

    /// - Parameter interval: the first of so many messages is written, then the first of the next so many.
    init(directory: EmulatorDirectory, projects: [String], interval: Int = 1) throws(Failure) {
        self.interval = interval
        descriptor = try directory.openForAppending("accepted.ndjson")
        projectParts = projects.map { [UInt8]("\",\"project\":\"\($0)\",\"message\":".utf8) }
        buffer.reserveCapacity(256 << 10)
    }

    deinit { _ = close(descriptor) }

    /// Adds a line; the message is valid JSON, so a line break in it is white space and becomes a space.
    func append(_ message: Span<UInt8>, project: Int, at time: WallTime) {
        if interval > 1 {
            defer { skipped = skipped + 1 == interval ? 0 : skipped + 1 }
            guard skipped == 0 else { return }
        }
        if time != prefixTime {
            prefixTime = time
            timePart = [UInt8]("{\"time\":\"\(time.timestamp)".utf8)
        }
        buffer.append(contentsOf: timePart)
        buffer.append(contentsOf: projectParts[project])
        let start = buffer.count
        message.withUnsafeBufferPointer { buffer.append(contentsOf: $0) }
        for index in start..<buffer.count
        where buffer[index] == UInt8(ascii: "\n") || buffer[index] == UInt8(ascii: "\r") {
            buffer[index] = UInt8(ascii: " ")
        }
        buffer.append(UInt8(ascii: "}"))
        buffer.append(UInt8(ascii: "\n"))
    }

    /// Writes what was added; called at the end of every turn, before any answer goes out.
    func flush() throws(Failure) {
        guard !buffer.isEmpty else { return }
        guard FileOutput.writeAll(descriptor, buffer) else {
            throw Failure(
                .configuration, "cannot write accepted.ndjson: \(String(cString: strerror(errno)))",
                remedy: "make room, or use --no-accepted-log")
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
