import Glibc
import Reactor
import Synchronization
import Testing

struct SignalSourceTests {
    @Test func blockedSignalsAreReadInTheLoop() throws {
        // The mask is the thread's and the signals go to the thread: other tests do not notice.
        SignalSource.block([SIGUSR1, SIGUSR2])
        let signals = try SignalSource([SIGUSR1, SIGUSR2])
        let reactor = try Reactor()
        let watcher = Watcher(signals)
        try reactor.watch(signals.descriptor, .read, watcher)
        #expect(signals.next() == nil)
        pthread_kill(pthread_self(), SIGUSR2)
        pthread_kill(pthread_self(), SIGUSR1)
        #expect(try reactor.wait(atMostNanoseconds: 1_000_000_000) == 1)
        #expect(Set(watcher.seen) == [SIGUSR1, SIGUSR2])
        #expect(try reactor.wait(atMostNanoseconds: 0) == 0)
        reactor.unwatch(signals.descriptor)
    }

    @Test func aSignalThatInterruptsTheWaitIsNoError() throws {
        let reactor = try Reactor()
        // A handler that does nothing, without SA_RESTART.
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        var before = sigaction()
        sigaction(SIGALRM, &action, &before)
        defer { sigaction(SIGALRM, &before, nil) }
        // The threads that tests run on start with every signal blocked.
        var mask = sigset_t()
        var maskBefore = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, SIGALRM)
        pthread_sigmask(SIG_UNBLOCK, &mask, &maskBefore)
        defer { pthread_sigmask(SIG_SETMASK, &maskBefore, nil) }
        let signaller = Signaller(waiter: pthread_self())
        try signaller.start()
        let start = Reactor.now
        #expect(try reactor.wait(atMostNanoseconds: 60_000_000_000) == 0)
        #expect(Reactor.now - start < 59_000_000_000)
        signaller.stop()
    }
}

/// A thread that signals another one again and again: only a signal that finds it waiting interrupts the wait.
private final class Signaller: Sendable {
    private let waiter: pthread_t
    private let isOver = Atomic(false)
    private let thread = Mutex<pthread_t?>(nil)

    init(waiter: pthread_t) { self.waiter = waiter }

    func start() throws {
        var created = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        try #require(
            pthread_create(
                &created, nil,
                { context in
                    guard let context else { return nil }
                    let signaller = Unmanaged<Signaller>.fromOpaque(context).takeRetainedValue()
                    while !signaller.isOver.load(ordering: .acquiring) {
                        pthread_kill(signaller.waiter, SIGALRM)
                        sched_yield()
                    }
                    return nil
                }, context) == 0)
        thread.withLock { [created] in $0 = created }
    }

    func stop() {
        isOver.store(true, ordering: .releasing)
        if let thread = thread.withLock({ $0 }) { pthread_join(thread, nil) }
    }
}

private final class Watcher: PollSource {
    let signals: SignalSource
    var seen: [Int32] = []

    init(_ signals: SignalSource) { self.signals = signals }

    func ready(_ readiness: Interest) {
        while let signal = signals.next() { seen.append(signal) }
    }
}
