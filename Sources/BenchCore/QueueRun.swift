import Operations
import Postgres
import Queue

/// Claim and record alone: what the database can do for one connection, with nothing posted in between.
struct QueueRun {
    static let batch = 500

    let queue: ScratchQueue
    let interruption: Interruption

    /// Claims so many batches, all there is when `limit` is 0, and records each as sent.
    func run(limit: Int) throws(Failure) -> QueueSample {
        let app = try queue.query("reading the app", "SELECT id FROM todoke.apps").int(0, 0) ?? 0
        let sender =
            try queue.query(
                "registering", SenderRegistration.insert,
                [.text("bench"), .int(0), .text("bench"), .array([ScratchQueue.app])]
            ).int(0, 0) ?? 0
        try queue.run("preparing", "SET jit = off")
        let before = try ServerFigures(queue)
        let began = Stopwatch()
        var claims: [Double] = []
        var records: [Double] = []
        var messages = 0
        var floor: Claim.Floor?
        while limit == 0 || claims.count < limit {
            try interruption.check()
            let claimed = Stopwatch()
            let claim = Claim(app: app, priority: 5, day: queue.day, limit: Self.batch, floor: floor)
            let answer = claim.decode(
                try queue.query(
                    "claiming", claim.statement(sender: sender, leaseSeconds: 60), format: Claim.format))
            if answer.taken == 0 { break }
            // As the sender does: only while batches come back full.
            floor = answer.taken == Self.batch ? answer.floor : nil
            claims.append(claimed.seconds * 1_000)
            messages += answer.messages.count
            let recorded = Stopwatch()
            try record(answer.messages, sender: sender)
            records.append(recorded.seconds * 1_000)
        }
        let sample = began.sample(messages: messages)
        let after = try ServerFigures(queue)
        return QueueSample(
            messages: messages, messagesPerSecond: sample.messagesPerSecond,
            postgresMicroseconds: after.cpu(since: before).map { $0 / Double(max(1, messages)) }, claims: claims,
            records: records)
    }

    private func record(_ messages: [ClaimedMessage], sender: Int) throws(Failure) {
        let results = messages.map {
            MessageResult(
                key: $0.key, next: .sent, httpStatus: 200, errorCode: nil,
                providerMessageID: "projects/demo-project/messages/0:1764497000123456%3a4b5c6d3a4b5c6d", outcome: nil,
                detail: nil)
        }
        for record in Record.batches(of: results) {
            let matched = try queue.query("recording", record.statement(sender: sender), record.parameters).int(0, 0)
            guard matched == record.results.count else {
                throw Failure(
                    .software, "\(record.results.count) results were recorded for \(matched ?? 0) rows",
                    remedy: "please report this")
            }
        }
    }
}

/// What one round of claims and records came to.
struct QueueSample {
    let messages: Int
    let messagesPerSecond: Double
    let postgresMicroseconds: Double?
    /// Milliseconds of each claim, and of each record.
    let claims: [Double]
    let records: [Double]
}
