import Delivery
import FoundationEssentials
import Operations
import Queue

/// Runs that write nothing.
extension ProducerRun {
    /// Renders and checks everything, and asks the queue whether it would take the notification.
    mutating func rehearse() throws(Failure) {
        let rehearsal: LoadRehearsal
        let connection = try queue()
        do { rehearsal = try LoadRehearsal(connection, request) } catch { throw Failure(error) }
        try schedule.begin(rehearsal.dueMicroseconds)
        allowedTargets = rehearsal.allowedTargets
        while true {
            switch try step() {
            case .message: counts.queued += 1
            case .skipped: continue
            case .refused: try checkRejections()
            case .end: return try checkRejections(atEnd: true)
            }
        }
    }

    /// Prints messages; no database but the audience's own is asked.
    mutating func preview(_ count: Int) throws(Failure) -> ExitCode {
        // Without a notification in the database: as if it were made now.
        try schedule.begin(Int(Date.now.timeIntervalSince1970 * 1_000_000))
        var printed = 0
        while printed < count {
            switch try step() {
            case .message:
                printed += 1
                StandardStream.output.writeLine(String(decoding: maker.message, as: UTF8.self))
            case .skipped: continue
            case .refused: try checkRejections()
            case .end: return counts.rejected > 0 ? .data : .ok
            }
        }
        return counts.rejected > 0 ? .data : .ok
    }
}
