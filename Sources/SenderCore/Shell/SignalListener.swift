import Reactor

/// SIGTERM and SIGINT as events of the loop.
final class SignalListener: PollSource {
    private let source: SignalSource
    private let events: EventQueue

    init(_ signals: [Int32], reactor: Reactor, events: EventQueue) throws(ReactorError) {
        source = try SignalSource(signals)
        self.events = events
        try reactor.watch(source.descriptor, .read, self)
    }

    func ready(_ readiness: Interest) {
        while source.next() != nil { events.append(.stopRequested) }
    }
}
