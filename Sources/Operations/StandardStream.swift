import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Standard output and standard error, written at once and whole.
package struct StandardStream: Sendable {
    package static let output = StandardStream(descriptor: 1)
    package static let error = StandardStream(descriptor: 2)

    let descriptor: Int32

    /// The first error of writing to standard output, as a number of the system's; 0 while all went well.
    ///
    /// ``Program`` looks at it in the end: a result that nobody got is not a success. A reader that has closed its end of the
    /// pipe wanted no more, and is no error.
    static let lostOutput = Atomic<Int32>(0)

    /// Whether anything was written to standard output: then a program that reads there has its answer.
    static let hasOutput = Atomic<Bool>(false)

    /// Whether a person is looking.
    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes the text, going on after interruptions and short writes; false when not all of it could be written.
    ///
    /// What is said to people may go nowhere; what a program is run for is not lost without a word: see ``lostOutput`` and
    /// ``BufferedOutput``.
    @discardableResult
    package func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = posixWrite(
                    descriptor, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[offset...]))
                if count > 0 {
                    offset += count
                    if descriptor == Self.output.descriptor { Self.hasOutput.store(true, ordering: .relaxed) }
                } else if errno != EINTR && errno != EAGAIN {
                    if descriptor == Self.output.descriptor && errno != EPIPE {
                        _ = Self.lostOutput.compareExchange(expected: 0, desired: errno, ordering: .relaxed)
                    }
                    return false
                }
            }
            return true
        }
    }

    /// Opens `/dev/null` where the caller has closed a standard descriptor.
    ///
    /// Otherwise the first socket gets its number, and what is said to people goes to the database.
    static func fillGaps() {
        while true {
            let descriptor = open("/dev/null", O_RDWR | O_CLOEXEC)
            guard descriptor < 0 || descriptor > 2 else { continue }
            if descriptor > 2 { close(descriptor) }
            return
        }
    }

    package func writeLine(_ text: String) { write(text + "\n") }
}

private func posixWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
