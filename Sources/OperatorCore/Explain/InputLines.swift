import Operations

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The lines of a file or of standard input, a piece at a time: the whole is never held.
final class InputLines {
    enum Line: Equatable {
        /// Without its end.
        case text([UInt8])
        /// Longer than `longest`; what it says is not kept.
        case tooLong
    }

    /// Bytes in one line: a body of a mebibyte may be six times as long once it is escaped.
    static let longest = 8 << 20

    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false

    /// Opens a file; `-` is standard input.
    init(_ path: String, option: String) throws(Failure) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(
                .data, "cannot read \(path): \(String(cString: strerror(errno)))", remedy: "give --\(option) a file")
        }
        var status = stat()
        guard fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
            if descriptor > 0 { close(descriptor) }
            throw Failure(.data, "\(name) is a directory", remedy: "give --\(option) a file")
        }
    }

    deinit { if descriptor > 0 { close(descriptor) } }

    /// The next line; nil at the end.
    ///
    /// `idle` runs before each wait for more input.
    func next(idle: () -> Void) throws(Failure) -> Line? {
        var line: [UInt8] = []
        var count = 0
        while true {
            if position == buffer.count {
                idle()
                guard try fill() else { return count == 0 ? nil : count > Self.longest ? .tooLong : .text(line) }
            }
            let piece = buffer[position...]
            let end = piece.firstIndex(of: UInt8(ascii: "\n"))
            let part = piece[..<(end ?? buffer.count)]
            count += part.count
            if count <= Self.longest { line.append(contentsOf: part) }
            position = end.map { $0 + 1 } ?? buffer.count
            if end != nil { return count > Self.longest ? .tooLong : .text(line) }
        }
    }

    /// What is left of the input, `limit` bytes of it at most.
    func rest(limit: Int) throws(Failure) -> [UInt8] {
        var whole: [UInt8] = []
        while whole.count < limit {
            if position == buffer.count {
                guard try fill() else { break }
            }
            whole += buffer[position...].prefix(limit - whole.count)
            position = buffer.count
        }
        return whole
    }

    /// Gets the next piece once this one is used up; false at the end.
    private func fill() throws(Failure) -> Bool {
        guard !isAtEnd else { return false }
        position = 0
        if buffer.count < Self.piece { buffer = [UInt8](repeating: 0, count: Self.piece) }
        while true {
            let got = buffer.withUnsafeMutableBytes { readOnce(descriptor, $0) }
            if got >= 0 {
                buffer.removeLast(buffer.count - got)
                isAtEnd = got == 0
                return !isAtEnd
            }
            guard errno == EINTR else {
                throw Failure(
                    .data, "cannot read \(name): \(String(cString: strerror(errno)))", remedy: "run it again")
            }
        }
    }

    private static let piece = 64 << 10
}

/// `read`, out of the way of the methods of similar names.
private func readOnce(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, bytes.baseAddress, bytes.count)
}
