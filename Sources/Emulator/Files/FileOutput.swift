#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Whole writes to files.
enum FileOutput {
    /// Writes every byte, going on after interruptions and short writes; false leaves the reason in `errno`.
    static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[offset...])
                let count = write(descriptor, rest.baseAddress, rest.count)
                if count > 0 {
                    offset += count
                } else if count == 0 || errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}
