/// Where the parts of the shell leave what happened, until the loop hands it to the machine.
final class EventQueue {
    private var events: [SenderEvent] = []

    var isEmpty: Bool { events.isEmpty }

    func append(_ event: SenderEvent) { events.append(event) }

    /// The events so far, in order.
    func drain() -> [SenderEvent] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }
}
