import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

/// Results that the database refuses for good must not stop everybody.
@Suite struct SenderMachineRefusalTests {
    private static let refusal = Failure(.software, "a trigger of somebody's", remedy: "look")

    /// A database that refuses every batch with this message in it, and takes all others.
    private struct PickyDatabase {
        var harness: MachineHarness
        var refuses: (Int) -> Bool
        var recorded: [Int] = []
        var refusals = 0
        var lines: [LogEntry] = []
        var posts: [Int] = []
        /// What the next claim brings.
        var more = 0
        var end: (exit: ExitCode, failure: Failure?)?

        /// Lets seconds pass, posting and recording whatever comes.
        mutating func run(_ seconds: Int) {
            for _ in 0..<(seconds * 10) {
                harness.pass(0.1)
                step()
            }
        }

        mutating func step() {
            let actions = harness.take()
            lines += actions.logLines
            end = end ?? actions.end
            for record in actions.records {
                let ids = record.results.map(\.key.id)
                guard ids.contains(where: refuses) else {
                    recorded += ids
                    harness.hear(.recorded(matched: ids.count))
                    continue
                }
                refusals += 1
                harness.hear(.statementFailed(.record, SenderMachineRefusalTests.refusal))
                // What stood behind it is not tried, as in the shell.
                break
            }
            for claim in actions.claims {
                harness.answer(claim, more, from: 100)
                more = 0
            }
            if actions.workQuestions > 0 {
                harness.hear(MachineHarness.work(due: more > 0 ? [MachineHarness.place(5)] : []))
            }
            for order in actions.posts {
                posts.append(order.message.key.id)
                harness.hear(.transferFinished(slot: order.slot, MachineHarness.answered(.sent, status: 200)))
            }
        }

        var asideLines: [LogEntry] { lines.filter { $0.message.hasPrefix("results set aside") } }
    }

    private func database(drains: Bool = false, refuses: @escaping (Int) -> Bool) -> PickyDatabase {
        var harness = MachineHarness { $0.drains = drains }
        harness.start(messages: 12)
        return PickyDatabase(harness: harness, refuses: refuses)
    }

    @Test func oneRefusedResultIsLeftBehindAndTheRestGoOn() throws {
        var database = database { $0 == 2 }
        database.run(20)
        #expect(Set(database.recorded) == Set(1...12).subtracting([2]))
        #expect(database.posts.count == 12)
        #expect(database.harness.machine.results.asideCount == 1)
        let line = try #require(database.asideLines.first)
        #expect(database.asideLines.count == 1)
        #expect(line.level == .error)
        #expect(line.fields.map(\.key) == ["day", "messages", "why"])
        #expect(line.fields.map(\.value).last == Self.refusal.what)
        database.more = 4
        database.run(4)
        #expect(database.posts.suffix(4) == [100, 101, 102, 103])
    }

    @Test func whatIsLeftBehindIsTriedNowAndThen() {
        var database = database { $0 == 2 }
        database.run(20)
        let refusals = database.refusals
        database.run(120)
        #expect((1...3).contains(database.refusals - refusals), "each minute")
        database.refuses = { _ in false }
        database.run(61)
        #expect(database.recorded.contains(2))
        #expect(database.harness.machine.results.isEmpty)
    }

    @Test func aDatabaseThatRefusesEverythingStopsTheSender() {
        var database = database { _ in true }
        database.run(100)
        #expect(database.harness.machine.results.asideCount == 0)
        #expect(database.posts.count < 12)
        #expect(database.asideLines.isEmpty)
    }

    @Test func aDrainEndsWithoutThem() {
        var database = database(drains: true) { $0 == 2 }
        database.run(20)
        #expect(database.end?.exit == .temporary)
        #expect(database.end?.failure?.what == "results refused by the database: 1")
    }

    @Test func aStopDoesNotWaitForThem() {
        var database = database { $0 == 2 }
        database.run(20)
        database.harness.hear(.stopRequested)
        database.harness.pass(0.1)
        database.step()
        #expect(database.end?.exit == .temporary)
    }

    @Test func onlySoManyAreSetAside() throws {
        var buffer = ResultBuffer()
        func result(_ id: Int) -> MessageResult {
            MessageResult(
                key: MessageKey(id: id, day: MachineHarness.day, claimNumber: 1), next: .sent, httpStatus: 200)
        }
        var now: Int64 = 0
        var stopped = false
        for round in 0..<6 where !stopped {
            for id in 0..<3_000 { buffer.append(result(round * 3_000 + id), now: now) }
            var tries = 0
            while buffer.pressing > 0 && !stopped {
                tries += 1
                now += 1
                // Another batch between the refusals, and those set aside are not tried: their time has not come.
                for record in buffer.next(isDue: true, now: now).records {
                    if record.results.count < 10 {
                        buffer.recorded(matched: record.results.count)
                    } else {
                        _ = buffer.refused(now: now, pause: 3_600_000_000_000)
                        buffer.holdUntil = now
                        break
                    }
                }
                if tries < 3 { buffer.append(result(-tries), now: now) }
                stopped = tries > 20
            }
        }
        #expect(stopped)
        #expect(buffer.asideCount == 9_000)
    }
}
