import CLinux
import Glibc

/// Signals as a descriptor: they are read in the loop instead of interrupting it.
package final class SignalSource {
    /// Readable when a signal is waiting.
    package let descriptor: Int32

    /// Keeps the signals from their usual effect, in this thread and in those that it starts later.
    ///
    /// Call it before any other thread exists: libcurl's resolver threads inherit the mask.
    package static func block(_ signals: [Int32]) {
        var mask = set(of: signals)
        pthread_sigmask(SIG_BLOCK, &mask, nil)
    }

    /// Writing to a connection that the peer has closed gives an error instead of ending the process.
    package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// The signals have to be blocked.
    package init(_ signals: [Int32]) throws(ReactorError) {
        var mask = Self.set(of: signals)
        descriptor = signalfd(-1, &mask, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
        if descriptor < 0 { throw ReactorError("signalfd") }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The next signal that is waiting.
    package func next() -> Int32? {
        var info = signalfd_siginfo()
        while true {
            let count = read(descriptor, &info, MemoryLayout<signalfd_siginfo>.size)
            if count == MemoryLayout<signalfd_siginfo>.size { return Int32(info.ssi_signo) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    private static func set(of signals: [Int32]) -> sigset_t {
        var mask = sigset_t()
        sigemptyset(&mask)
        for signal in signals { sigaddset(&mask, signal) }
        return mask
    }
}
