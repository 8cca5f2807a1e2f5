import Foundation
import Glibc
import Postgres
import Testing

/// Several senders of one pipeline, of which any may be killed and replaced.
final class Fleet {
    private let pipeline: Pipeline
    private let arguments: [String]
    private(set) var senders: [RunningProgram] = []
    private var names: [String] = []
    private var started = 0

    init(_ count: Int, of pipeline: Pipeline, _ arguments: [String]) throws {
        self.pipeline = pipeline
        self.arguments = arguments
        for _ in 0..<count {
            let (sender, name) = try start()
            senders.append(sender)
            names.append(name)
        }
    }

    /// Kills the sender at that place and starts another there.
    ///
    /// - Returns: the targets that the dead one had in its hands: claimed and not recorded.
    func replace(_ place: Int) throws -> [String] {
        let victim = senders[place]
        victim.send(SIGKILL)
        guard try victim.end().signal == SIGKILL else {
            throw Late(description: "the sender ended before it was killed: \(victim.errorText.suffix(2000))")
        }
        let name = names[place]
        // The server may still be busy with its last statement.
        try wait(for: "the connections of \(name) are closed") {
            try pipeline.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(name)'") == 0
        }
        let held = try pipeline.targetsInHands(of: victim)
        (senders[place], names[place]) = try start()
        return held
    }

    /// Waits for all to end by themselves.
    func end(within limit: TimeInterval = patience) throws -> [EndedProgram] {
        try senders.map { try $0.end(within: limit) }
    }

    /// Each is known to the server by a name of its own.
    private func start() throws -> (RunningProgram, String) {
        started += 1
        let name = "fleet-\(started)"
        let url = "\(pipeline.databaseURL) application_name=\(name)"
        return (try pipeline.sender(arguments + ["--database-url", url]), name)
    }
}

extension Pipeline {
    /// The targets that a sender has claimed and not recorded, or that were taken from it because its lease had run out.
    func targetsInHands(of sender: RunningProgram) throws -> [String] {
        let result = try database.query(
            """
            WITH mine AS (SELECT id FROM todoke.senders WHERE pid = $1::int ORDER BY id DESC LIMIT 1)
            SELECT p.target FROM todoke.messages m JOIN todoke.payloads p USING (id, day)
            WHERE m.state = 'sending' AND m.sender_id = (SELECT id FROM mine)
            UNION
            SELECT p.target FROM todoke.attempts t JOIN todoke.payloads p ON p.id = t.message_id AND p.day = t.day
            WHERE t.error_code = 'LEASE_EXPIRED' AND t.sender_id = (SELECT id FROM mine)
            """, [.int(Int(sender.processID))])
        return (0..<result.rowCount).map { result.string($0, 0) }
    }

    /// Arrivals beyond the first of each target.
    func extraArrivals() throws -> Int { try arrivalsByToken().values.reduce(0) { $0 + $1 - 1 } }

    /// What holds after an outage of the database: everything was sent, no attempt was spent, the sender ended well, and
    /// no device can have got a message twice that was not counted.
    func checkOutageCostNothing(_ ended: EndedProgram, messages count: Int) throws {
        #expect(ended.exitCode == 0, "\(ended.story)")
        #expect(try states() == ["sent": count])
        #expect(try number("SELECT max(attempts) FROM todoke.messages") == 0)
        #expect(try arrivalsByToken().count == count)
        #expect(try extraArrivals() <= duplicateRisk())
    }

    /// Ends the leases of everything that is being sent, as if so much time had passed.
    func endLeases() throws {
        try database.query("UPDATE todoke.messages SET lease_until = now() - interval '1 s' WHERE state = 'sending'")
    }

    /// Ends the leases of those that no living sender of the fleet holds.
    func endLeases(of fleet: Fleet) throws {
        let living = fleet.senders.map { String($0.processID) }.joined(separator: ", ")
        try database.query(
            """
            UPDATE todoke.messages SET lease_until = now() - interval '1 s' WHERE state = 'sending'
                AND sender_id NOT IN (SELECT id FROM todoke.senders WHERE pid IN (\(living)))
            """)
    }
}
