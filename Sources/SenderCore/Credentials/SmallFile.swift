import Operations

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reads the small files of the configuration: keys, certificate authorities.
enum SmallFile {
    /// No key file and no list of authorities is longer; bytes.
    static let limit = 4 << 20

    /// A file that cannot be read, with the system's word for why.
    struct Unreadable: Error {
        let why: String
        var isMissing = false
    }

    /// Whether there is something of that name that is no directory.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
    }

    /// All of the file; one that could keep its reader waiting, such as a pipe, only where `mayWait`.
    static func read(_ path: String, mayWait: Bool = true) throws(Unreadable) -> [UInt8] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw Unreadable(why: String(cString: strerror(errno)), isMissing: errno == ENOENT || errno == ENOTDIR)
        }
        if status.st_mode & S_IFMT == S_IFDIR { throw Unreadable(why: "it is a directory") }
        guard mayWait || status.st_mode & S_IFMT == S_IFREG else {
            throw Unreadable(why: "only regular files are read again")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Unreadable(why: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count == 0 { return bytes }
            if count < 0 {
                guard errno == EINTR else { throw Unreadable(why: String(cString: strerror(errno))) }
                continue
            }
            bytes += piece.prefix(count)
            guard bytes.count <= limit else { throw Unreadable(why: "it is longer than \(limit >> 20) MiB") }
        }
    }
}
