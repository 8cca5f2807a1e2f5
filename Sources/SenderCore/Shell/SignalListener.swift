import Reactor

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The process's signals as events of the loop: SIGTERM and SIGINT stop it, SIGHUP has configuration read again.
final class SignalListener: PollSource {
    /// To be blocked before any thread is made.
    static let signals = [SIGTERM, SIGINT, SIGHUP]

    private let source: SignalSource
    private let events: EventQueue
    /// SIGHUP came before anybody could act on it.
    private var isReloadOwed = false
    /// What SIGHUP asks for; called at once where it came earlier.
    var reload: (() -> Void)? {
        didSet {
            guard isReloadOwed, let reload else { return }
            isReloadOwed = false
            reload()
        }
    }

    init(reactor: Reactor, events: EventQueue) throws(ReactorError) {
        source = try SignalSource(Self.signals)
        self.events = events
        try reactor.watch(source.descriptor, .read, self)
    }

    func ready(_ readiness: Interest) {
        var asksForReload = false
        while let signal = source.next() {
            if signal == SIGHUP { asksForReload = true } else { events.append(.stopRequested) }
        }
        guard asksForReload else { return }
        if let reload { reload() } else { isReloadOwed = true }
    }
}
