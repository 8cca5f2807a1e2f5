/// What all rounds came to.
struct Results {
    var bare: [Sample] = []
    var sender: [SenderSample] = []
    var queue: [QueueSample] = []
    var idle: IdleSample?

    /// The sender's throughput over the bare loop's of the same round.
    var throughputRatios: [Double] {
        zip(sender, bare).map { $0.cost.messagesPerSecond / max($1.messagesPerSecond, 1e-9) }
    }

    /// The senders' processor time for a message over the bare loop's of the same round.
    var cpuRatios: [Double] { zip(sender, bare).map { $0.cost.cpuMicroseconds / max($1.cpuMicroseconds, 1e-9) } }
}
