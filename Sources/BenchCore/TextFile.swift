import Glibc
import Operations

/// Small files, those of `/proc` included, whose size is not known before they are read.
enum TextFile {
    /// Empty when it cannot be read.
    static func read(_ path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            guard count > 0 else { break }
            bytes.append(contentsOf: piece[..<count])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Makes or replaces a file that nobody else may read.
    static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Failure(
                .configuration, "\(path) cannot be written: \(String(cString: strerror(errno)))",
                remedy: "make room, or set TMPDIR")
        }
    }
}
