import Operations

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Bytes of an input, a piece at a time: the whole is never held.
struct ByteReader {
    /// The present piece.
    private(set) var buffer: [UInt8] = []
    /// The next byte of it that has not been taken.
    var position = 0
    /// Bytes taken with the pieces before this one.
    private(set) var bytesBefore = 0
    /// Replaces the buffer's contents by the next bytes; none at the end.
    private let fill: (inout [UInt8]) throws(Failure) -> Void

    static let pieceBytes = 256 << 10

    init(fill: @escaping (inout [UInt8]) throws(Failure) -> Void) {
        self.fill = fill
    }

    /// Gets the next piece once this one is used up; `false` at the end.
    mutating func refill() throws(Failure) -> Bool {
        bytesBefore += buffer.count
        position = 0
        try fill(&buffer)
        return !buffer.isEmpty
    }

    /// Whether a byte is at `position`, getting another piece if need be.
    mutating func hasByte() throws(Failure) -> Bool {
        if position < buffer.count { return true }
        return try refill()
    }

    /// The next byte, not taken.
    mutating func peek() throws(Failure) -> UInt8? {
        try hasByte() ? buffer[position] : nil
    }
}

/// A file or standard input, open for reading.
final class InputFile {
    private let descriptor: Int32
    private let name: String
    /// Bytes, where it is a regular file.
    let size: Int?

    /// Opens a file; `-` is standard input.
    init(_ path: String, option: String) throws(Failure) {
        name = path == "-" ? "standard input" : path
        if path == "-" {
            descriptor = 0
        } else {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw Failure(
                    .data, "cannot read \(path): \(String(cString: strerror(errno)))", remedy: "give --\(option) a file"
                )
            }
        }
        var status = stat()
        let known = fstat(descriptor, &status) == 0
        size = known && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
        if known && status.st_mode & S_IFMT == S_IFDIR {
            if descriptor > 0 { close(descriptor) }
            throw Failure(.data, "\(path) is a directory", remedy: "give --\(option) a file")
        }
    }

    deinit { if descriptor > 0 { close(descriptor) } }

    /// Reads the next bytes, at most as many as the buffer was made for; none at the end.
    func read(into bytes: inout [UInt8], atMost count: Int = ByteReader.pieceBytes) throws(Failure) {
        if bytes.count < count { bytes.append(contentsOf: repeatElement(0, count: count - bytes.count)) }
        while true {
            let got = bytes.withUnsafeMutableBytes { readOnce(descriptor, $0) }
            if got >= 0 {
                bytes.removeLast(bytes.count - got)
                return
            }
            guard errno == EINTR else {
                throw Failure(
                    .data, "cannot read \(name): \(String(cString: strerror(errno)))", remedy: "run it again")
            }
        }
    }

    /// A whole small file, such as a template.
    static func contents(_ path: String, option: String, limit: Int = 16 << 20) throws(Failure) -> [UInt8] {
        let file = try InputFile(path, option: option)
        var whole: [UInt8] = []
        var piece: [UInt8] = []
        while true {
            try file.read(into: &piece)
            if piece.isEmpty { break }
            whole += piece
            guard whole.count <= limit else {
                throw Failure(
                    .data, "\(path) is larger than \(limit >> 20) MiB", remedy: "give --\(option) the right file")
            }
        }
        return whole
    }
}

/// `read`, out of the way of the method of that name.
private func readOnce(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, bytes.baseAddress, bytes.count)
}
