#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file or standard input, open for reading.
package final class InputFile {
    private let descriptor: Int32
    private var isAtEnd = false
    /// What it is called in messages.
    package let name: String
    /// Bytes, where it is a regular file.
    package let size: Int?

    /// Opens a file that an option names; `-` is standard input.
    package convenience init(_ path: String, option: String) throws(Failure) {
        try self.init(path, remedy: "give --\(option) a file")
    }

    /// Opens a file; `-` is standard input.
    ///
    /// Throws a ``Failure`` with ``ExitCode/data`` and this remedy when it cannot be read, or is a directory.
    package init(_ path: String, remedy: String) throws(Failure) {
        name = path == "-" ? "standard input" : path
        if path == "-" {
            descriptor = 0
        } else {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw Failure(.data, "cannot read \(path): \(String(cString: strerror(errno)))", remedy: remedy)
            }
        }
        var status = stat()
        let known = fstat(descriptor, &status) == 0
        size = known && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
        if known && status.st_mode & S_IFMT == S_IFDIR {
            if descriptor > 0 { close(descriptor) }
            throw Failure(.data, "\(path) is a directory", remedy: remedy)
        }
    }

    /// Its bytes, a piece at a time; `willRead` runs before each read, which may wait.
    package func bytes(willRead: @escaping () -> Void = {}) -> ByteReader {
        ByteReader { (buffer) throws(Failure) in
            willRead()
            try self.read(into: &buffer)
        }
    }

    deinit { if descriptor > 0 { close(descriptor) } }

    /// Reads the next bytes, at most as many as the buffer was made for; none at the end.
    package func read(into bytes: inout [UInt8], atMost count: Int = ByteReader.pieceBytes) throws(Failure) {
        // A terminal goes on after its end.
        guard !isAtEnd else { return bytes.removeAll() }
        if bytes.count < count { bytes.append(contentsOf: repeatElement(0, count: count - bytes.count)) }
        while true {
            let got = bytes.withUnsafeMutableBytes { readOnce(descriptor, $0) }
            if got >= 0 {
                isAtEnd = got == 0
                bytes.removeLast(bytes.count - got)
                return
            }
            guard errno == EINTR else {
                throw Failure(
                    .data, "cannot read \(name): \(String(cString: strerror(errno)))", remedy: "run it again")
            }
        }
    }

    /// The beginning of a file, at most `limit` bytes.
    package static func beginning(_ path: String, option: String, limit: Int) throws(Failure) -> [UInt8] {
        let file = try InputFile(path, option: option)
        var whole: [UInt8] = []
        var piece: [UInt8] = []
        while whole.count < limit {
            try file.read(into: &piece)
            if piece.isEmpty { break }
            whole += piece.prefix(limit - whole.count)
        }
        return whole
    }

    /// A whole small file, such as a template.
    package static func contents(_ path: String, option: String, limit: Int = 16 << 20) throws(Failure) -> [UInt8] {
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
