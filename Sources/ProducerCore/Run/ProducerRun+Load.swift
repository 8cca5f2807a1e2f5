import Delivery
import Operations
import Postgres
import Queue

/// Runs that write.
extension ProducerRun {
    /// Queues the audience.
    mutating func load() throws(Failure) {
        let loader: Loader
        do { loader = try Loader(try queue(), request) } catch let error as LoadError {
            throw Failure(error)
        } catch let error as Failure {
            throw error
        } catch { throw Failure(.software, "\(error)", remedy: "please report this") }
        do throws(Failure) {
            try schedule.begin(loader.dueMicroseconds)
            allowedTargets = loader.allowedTargets
            try load(into: loader)
        } catch {
            report.clear()
            loader.abandon()
            guard loader.counts.queued > 0 else { throw error }
            throw Failure(
                error.exit, "\(error.what) (queued \(loader.counts.queued) before that)", remedy: error.remedy)
        }
        counts = loader.counts
    }

    func queue() throws(Failure) -> sending Connection {
        do {
            return try Connection(Conninfo(options.databaseURL, applicationName: "todoke-producer"))
        } catch { throw Failure(error, while: "connecting to the queue's database") }
    }

    private mutating func load(into loader: Loader) throws(Failure) {
        while true {
            let step: Step
            do throws(Failure) { step = try self.step() } catch {
                // Where the audience breaks off, what was read of it is queued; the break is what there is to tell.
                try? loader.stop()
                throw error
            }
            do {
                switch step {
                case .message(let target, let key, let due):
                    try loader.add(
                        maker.message.span, target: target, userID: row.bytes.span.extracting(maker.userRange(row)),
                        device: maker.device(row), key: key, due: due, ttl: maker.ttl)
                case .skipped: try loader.skip()
                case .refused:
                    try loader.reject(line: line, reason: reason, input: input)
                    if hasTooManyRejections() { try loader.stop() }
                case .end:
                    if isCutShort || hasTooManyRejections(atEnd: true) {
                        try loader.stop()
                    } else {
                        try loader.finish()
                    }
                }
            } catch { throw Failure(error) }
            switch step {
            case .refused: try checkRejections()
            case .end: return try checkRejections(atEnd: true)
            default: continue
            }
        }
    }
}
