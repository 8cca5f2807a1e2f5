import Postgres
import TestSupport
import Testing

@Suite(.scratchDatabase) struct ErrorTests {
    private func failure(_ sql: String, _ parameters: [Value] = []) throws -> PostgresError {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script("CREATE TEMP TABLE e (token text PRIMARY KEY)")
        return try #require(throws: PostgresError.self) { try connection.query(sql, parameters) }
    }

    @Test func classesAndOneLine() throws {
        let unique = try failure("INSERT INTO e SELECT $1 FROM generate_series(1, 2)", [.text("secret-token")])
        #expect(unique.sqlState == .uniqueViolation)
        #expect(unique.detail?.contains("secret-token") == true)
        #expect(!"\(unique) \(String(reflecting: unique))".contains("secret-token"))
        #expect(!unique.isConnectionLost && !unique.isRetryable && !unique.isConfiguration)

        let raised = try failure(
            """
            DO $$ BEGIN RAISE EXCEPTION E'closed\nsecond line' USING ERRCODE = '40001', HINT = 'use another id'; END $$
            """)
        #expect(raised.isRetryable)
        #expect(raised.description == "closed (SQLSTATE 40001)")
        #expect(raised.hint == "use another id")
    }

    @Test(arguments: ["SELECT $1::text::int", "SELECT $1::json", "SELECT $1::uuid", "SELECT ($1 || '9')::timestamptz"])
    func valuesStayOutOfTheMessage(sql: String) throws {
        let error = try failure(sql, [.text("secret-token")])
        #expect(error.sqlState?.classCode == "22")
        #expect(!error.description.contains("secret-token"))
    }

    @Test func textWithNULIsRefusedBeforeItIsCutShort() throws {
        let error = try failure("SELECT $1", [.text("ab\0cd")])
        #expect(error.source == .usage)
        #expect(!error.isConnectionLost)
        let tooMany = try failure("SELECT 1", [Value](repeating: .null, count: 65_536))
        #expect(tooMany.source == .usage)
    }

    @Test func aMissingDatabaseOrRoleIsRecognised() throws {
        let database = try #require(throws: PostgresError.self) {
            try Connection(Conninfo("dbname=no_such_database", applicationName: "test"))
        }
        #expect(database.isMissingDatabase && database.isConfiguration && !database.isConnectionLost)
        #expect(database.description.contains("no_such_database"))
        let role = try #require(throws: PostgresError.self) {
            try Connection(Conninfo("user=no_such_role dbname=postgres", applicationName: "test"))
        }
        #expect(role.isAuthentication && role.isConfiguration && !role.isConnectionLost)
        #expect(!role.description.contains("\n"))
    }

    @Test func aServerThatIsNotThereIsALoss() throws {
        let error = try #require(throws: PostgresError.self) {
            try Connection(Conninfo("host=/nowhere/at/all", applicationName: "test"))
        }
        #expect(error.isConnectionLost && !error.isConfiguration)
        #expect(error.description.hasPrefix("connection to server on socket"))
        #expect(!error.description.contains("\n"))
    }

    @Test func aTerminatedBackendIsALoss() throws {
        let victim = try ScratchDatabase.shared().connect()
        let other = try ScratchDatabase.shared().connect()
        // Waits until it is gone: 10 s at most.
        try other.query("SELECT pg_terminate_backend($1, 10000)", [.int(victim.backendProcessID)])
        let error = try #require(throws: PostgresError.self) { try victim.query("SELECT 1") }
        #expect(error.isConnectionLost)
        #expect(error.sqlState == .adminShutdown)
        #expect(!victim.isAlive)
        #expect(throws: PostgresError.self) { try victim.copyIn("COPY e FROM STDIN") }
    }
}
