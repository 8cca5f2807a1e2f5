import Dispatch
import Operations
import Postgres
import Queue
import Synchronization
import TestSupport
import Testing

/// `todoke.ensure_partitions`: what it makes, and that nobody has to wait for it.
@Suite struct PartitionTests {
    private static let parents = ["attempts", "messages", "payloads", "rejections"]

    private func withDatabase(_ body: (ScratchDatabase, Connection) throws -> Void) throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            try body(database, database.connect())
        }
    }

    private func ensure(_ connection: Connection, _ days: Int) throws -> Int? {
        try connection.query("SELECT todoke.ensure_partitions($1::int)", [.int(days)]).int(0, 0)
    }

    @Test func yesterdayTodayAndTheDaysAheadAreThere() throws {
        try withDatabase { (_: ScratchDatabase, connection: Connection) throws in
            for parent in Self.parents {
                let days = try connection.query(
                    """
                    SELECT min(d) = -1, max(d) = 14, count(*) = 16, count(DISTINCT d) = 16 FROM (
                        SELECT to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') - (now() AT TIME ZONE 'UTC')::date AS d
                        FROM pg_inherits WHERE inhparent = 'todoke.\(parent)'::regclass) AS partition
                    """)
                for column in 0..<4 { #expect(days.bool(0, column) == true, "\(parent), column \(column)") }
            }
        }
    }

    @Test func aSecondCallMakesNothing() throws {
        try withDatabase { (_: ScratchDatabase, connection: Connection) throws in
            #expect(try ensure(connection, 14) == 0)
            #expect(try ensure(connection, 0) == 0)
            #expect(try ensure(connection, 16) == 2 * Self.parents.count)
            #expect(try ensure(connection, 16) == 0)
        }
    }

    @Test func whoMigratesMakesTheDaysAhead() throws {
        try withDatabase { (database: ScratchDatabase, connection: Connection) throws in
            #expect(try DaysAhead.make(connection) == 0)
            try connection.script(
                """
                DO $$
                BEGIN
                    EXECUTE (SELECT string_agg('DROP TABLE ' || inhrelid::regclass, '; ') FROM pg_inherits
                        WHERE inhparent IN (SELECT oid FROM pg_class WHERE relkind = 'p') AND inhrelid::regclass::text LIKE
                            '%' || to_char((now() AT TIME ZONE 'UTC')::date + 14, '_YYYYMMDD'));
                END $$;
                CREATE USER migrates_nothing_\(database.name);
                GRANT todoke_reader TO migrates_nothing_\(database.name);
                """)
            let other = try database.connect()
            try other.script("SET SESSION AUTHORIZATION migrates_nothing_\(database.name)")
            let failure = #expect(throws: Failure.self) { try DaysAhead.make(other) }
            #expect(failure?.exit == .configuration && failure?.remedy.contains("todoke_owner") == true)
            try connection.script("DROP ROLE migrates_nothing_\(database.name)")
            #expect(try DaysAhead.make(connection) == Self.parents.count)
            #expect(try DaysAhead.make(connection) == 0)
            #expect(!connection.isInTransaction)
        }
    }

    @Test func severalAtOnceMakeEachOnce() throws {
        try withDatabase { database, _ in
            let outcomes = Mutex<[Result<Int?, any Error>]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                let outcome = Result { try ensure(database.connect(), 20) }
                outcomes.withLock { $0.append(outcome) }
            }
            let made = try outcomes.withLock { try $0.map { try $0.get() ?? 0 }.reduce(0, +) }
            #expect(made == 6 * Self.parents.count)
        }
    }

    @Test func itWaitsForNobodyWhoReadsOrWrites() throws {
        try withDatabase { database, connection in
            let other = try database.connect()
            try other.script(
                """
                BEGIN;
                INSERT INTO todoke.messages (notification, app, day) VALUES (1, 1, (now() AT TIME ZONE 'UTC')::date);
                SELECT count(*) FROM todoke.payloads;
                UPDATE todoke.messages SET priority = 6;
                """)
            #expect(try ensure(connection, 15) == Self.parents.count)
            try other.script("COMMIT")
        }
    }

    @Test func aPartitionHasWhatItsParentHas() throws {
        try withDatabase { (_: ScratchDatabase, connection: Connection) throws in
            for parent in Self.parents {
                let row = try connection.query(
                    """
                    WITH partition AS (
                        SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = 'todoke.\(parent)'::regclass LIMIT 1
                    )
                    SELECT
                        (SELECT count(*) FROM pg_index WHERE indrelid = 'todoke.\(parent)'::regclass) AS wanted,
                        (SELECT count(*) FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indexrelid
                            WHERE i.indrelid = (SELECT oid FROM partition)) AS attached,
                        (SELECT count(*) FROM pg_index WHERE indrelid = (SELECT oid FROM partition)) AS have,
                        (SELECT count(*) FROM pg_constraint WHERE conrelid = 'todoke.\(parent)'::regclass AND contype = 'c'),
                        (SELECT count(*) FROM pg_constraint WHERE conrelid = (SELECT oid FROM partition) AND contype = 'c'
                            AND coninhcount = 1),
                        (SELECT count(*) FROM pg_attrdef WHERE adrelid = 'todoke.\(parent)'::regclass),
                        (SELECT count(*) FROM pg_attrdef WHERE adrelid = (SELECT oid FROM partition))
                    """)
                #expect(row.int(0, 0) == row.int(0, 1), "\(parent): an index is not attached")
                #expect(row.int(0, 0) == row.int(0, 2), "\(parent): an index too many")
                #expect(row.int(0, 3) == row.int(0, 4), "\(parent): a check is missing")
                #expect(row.int(0, 5) == row.int(0, 6), "\(parent): a default is missing")
            }
            let id = try connection.query(
                """
                INSERT INTO todoke.messages (notification, app, day) VALUES (1, 1, (now() AT TIME ZONE 'UTC')::date)
                RETURNING id
                """
            ).int(0, 0)
            #expect(id == 1)
            // A claim and its result write each row anew: it must not take a fifth of a day until VACUUM looks.
            let options = try connection.query(
                """
                SELECT reloptions @> ARRAY['fillfactor=50', 'autovacuum_vacuum_scale_factor=0.02', 'vacuum_truncate=off']
                FROM pg_class
                WHERE oid = (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'todoke.messages'::regclass LIMIT 1)
                """)
            #expect(options.bool(0, 0) == true)
        }
    }

    @Test(arguments: ["NULL", "-1", "367"]) func nonsenseIsRefused(_ days: String) throws {
        try withDatabase { (_: ScratchDatabase, connection: Connection) throws in
            let error = #expect(throws: PostgresError.self) {
                try connection.query("SELECT todoke.ensure_partitions(\(days))")
            }
            #expect(error?.sqlState == SQLState(rawValue: "22023"))
        }
    }

    @Test func aStrayTableOfThatNameIsNotTakenForAPartition() throws {
        try withDatabase { (_: ScratchDatabase, connection: Connection) throws in
            let name = try connection.query(
                """
                SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'todoke.attempts'::regclass
                ORDER BY inhrelid::regclass::text DESC LIMIT 1
                """
            ).string(0, 0)
            try connection.script("ALTER TABLE todoke.attempts DETACH PARTITION \(name)")
            let error = #expect(throws: PostgresError.self) { try ensure(connection, 14) }
            #expect(error?.sqlState == .duplicateTable)
        }
    }

    @Test func theDaysAreListed() throws {
        try withDatabase { (_: ScratchDatabase, connection: Connection) throws in
            let days = try connection.query(
                """
                SELECT count(*) = 16, min(d) = (now() AT TIME ZONE 'UTC')::date - 1 FROM todoke.message_days() AS t (d)
                """)
            #expect(days.bool(0, 0) == true)
            #expect(days.bool(0, 1) == true)
        }
    }
}
