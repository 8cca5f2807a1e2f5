import Glibc
import Operations

/// Ctrl-C and its like as an error at the next step, so that what was started and made is removed on the way out.
final class Interruption {
    private var signals = sigset_t()

    /// Blocks the signals, also for threads made later; children are started without that.
    init() {
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGCHLD] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Throws when somebody wants this to end.
    func check() throws(Failure) { try pause(milliseconds: 0) }

    /// Waits so long, or until a child ended; throws when somebody wants this to end.
    func pause(milliseconds: Int) throws(Failure) {
        var time = timespec(tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000)
        let signal = sigtimedwait(&signals, nil, &time)
        guard signal <= 0 || signal == SIGCHLD else {
            throw Failure(.temporary, "stopped by a signal", remedy: "run it again")
        }
    }
}
