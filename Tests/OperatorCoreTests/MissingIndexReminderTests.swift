import Postgres
import TestSupport
import Testing

@testable import OperatorCore

/// `todoke migrate` says each time what a migration left to be done by hand.
@Suite(.migratedDatabase) struct MissingIndexReminderTests {
    @Test func `large days without an index are named, with what to do`() throws {
        let connection = try ScratchDatabase.shared().connect()
        #expect(try Subcommand.missingIndexes(connection) == nil)
        // As a migration makes one, before it comes to the days.
        try connection.script("CREATE INDEX payloads_device ON ONLY todoke.payloads (device)")
        let reminder = try #require(try Subcommand.missingIndexes(connection))
        #expect(reminder.contains("16 large partitions are without an index"))
        #expect(reminder.hasSuffix("with psql: SELECT command FROM todoke.missing_indexes \\gexec"))
        try connection.script("SET SESSION AUTHORIZATION todoke_sender")
        #expect(try Subcommand.missingIndexes(connection) == nil)
    }
}
