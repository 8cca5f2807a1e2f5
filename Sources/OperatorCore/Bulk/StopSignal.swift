import Glibc
import Synchronization

/// Ctrl-C and SIGTERM between two batches: what is done is whole, and can be told.
///
/// A second one ends the program at once.
enum StopSignal {
    private static let flag = Atomic<Bool>(false)

    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Runs `body` while signals are heeded this way.
    static func heeded<R, E>(_ body: () throws(E) -> R) throws(E) -> R {
        // Made here and not in the handler, which must not wait for anything.
        flag.store(false, ordering: .relaxed)
        var heeded = sigset_t()
        sigemptyset(&heeded)
        for number in [SIGINT, SIGTERM] {
            sigaddset(&heeded, number)
            signal(number) { number in
                StopSignal.flag.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
        // Whoever started this program may have blocked them.
        pthread_sigmask(SIG_UNBLOCK, &heeded, nil)
        defer { for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) } }
        return try body()
    }
}
