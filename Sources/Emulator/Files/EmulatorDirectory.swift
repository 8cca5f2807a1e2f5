import Operations

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The directory in which clients find what they need.
struct EmulatorDirectory: Sendable {
    let path: String

    /// Makes the directory if it is missing, and takes away the sign of an earlier run.
    init(_ path: String) throws(Failure) {
        self.path = path
        if mkdir(path, 0o777) != 0 && errno != EEXIST { throw Self.failure("cannot make the directory \(path)") }
        if unlink("\(path)/endpoint") != 0 && errno != ENOENT {
            throw Self.failure("cannot use the directory \(path)")
        }
    }

    /// Writes the file beside its name and moves it there, so that a reader sees all of it or nothing.
    func write(_ name: String, _ bytes: [UInt8], isSecret: Bool = false) throws(Failure) {
        let temporary = "\(path)/.\(name).\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, isSecret ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw Self.failure("cannot write \(path)/\(name)") }
        let isWritten = FileOutput.writeAll(descriptor, bytes)
        guard close(descriptor) == 0, isWritten, rename(temporary, "\(path)/\(name)") == 0 else {
            let failure = Self.failure("cannot write \(path)/\(name)")
            unlink(temporary)
            throw failure
        }
    }

    /// Opens the file for appending.
    func openForAppending(_ name: String) throws(Failure) -> Int32 {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Self.failure("cannot write \(path)/\(name)") }
        return descriptor
    }

    private static func failure(_ what: String) -> Failure {
        Failure(
            .configuration, "\(what): \(String(cString: strerror(errno)))",
            remedy: "give --directory a directory that this user may write")
    }
}
