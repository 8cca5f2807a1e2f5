#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Whole files.
enum FileInput {
    /// The file's bytes; nil when it cannot be read or has more than `limit`.
    static func readAll(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= limit {
            let count = read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes.append(contentsOf: chunk[..<count])
            } else if errno != EINTR {
                return nil
            }
        }
        return nil
    }
}
