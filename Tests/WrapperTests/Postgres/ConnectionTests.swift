import Postgres
import TestSupport
import Testing

@Suite(.scratchDatabase) struct ConnectionTests {
    let connection: Connection

    init() throws { connection = try ScratchDatabase.shared().connect() }

    @Test func valuesOfEveryKindComeBackAsTheyWere() throws {
        let text = "日本 👩‍👩‍👧 \"q\" \\ \n\r\u{2028} ' end"
        let result = try connection.query(
            "SELECT $1::text, $2::bigint, $3::bytea, $4::text, $5::json, $6::bigint = -9223372036854775808, 1.5, true",
            [.text(text), .int(.max), .bytes([0, 1, 255, 0]), .null, .utf8(Array("{\"a\": 1}".utf8)), .int(.min)])
        #expect(result.rowCount == 1)
        #expect(result.columnCount == 8)
        #expect(result.string(0, 0) == text)
        #expect(result.int(0, 1) == .max)
        #expect(result.bytea(0, 2) == [0, 1, 255, 0])
        #expect(result.isNull(0, 3))
        #expect(result.optionalString(0, 3) == nil)
        #expect(result.string(0, 3) == "")
        #expect(result.bytes(0, 4) == Array("{\"a\": 1}".utf8))
        #expect(result.bool(0, 5) == true)
        #expect(result.double(0, 6) == 1.5)
        #expect(result.withSpan(0, 7) { $0.count } == 1)
    }

    @Test(arguments: [
        ("9223372036854775807", Int.max), ("-9223372036854775808", Int.min), ("0", 0), ("-1", -1),
        ("9223372036854775808", nil), ("-9223372036854775809", nil), ("", nil), ("-", nil), ("1.5", nil), ("x", nil),
    ])
    func integersAreReadWholeOrNotAtAll(text: String, expected: Int?) throws {
        #expect(try connection.query("SELECT $1::text", [.text(text)]).int(0, 0) == expected)
    }

    @Test func arraysKeepEveryElement() throws {
        let texts: [String?] = ["a", nil, "", "NULL", "with \"quotes\", \\ and {braces}", " 日本 "]
        let result = try connection.query(
            "SELECT unnest($1::text[]), unnest($2::bigint[])", [.array(texts), .array([1, -2, .max, 4, 5, .min])])
        #expect((0..<result.rowCount).map { result.optionalString($0, 0) } == texts)
        #expect((0..<result.rowCount).map { result.int($0, 1) } == [1, -2, .max, 4, 5, .min])
        let empty = try connection.query(
            "SELECT cardinality($1::bigint[]), $2::bigint[] IS NOT NULL", [.array([Int]()), .array([1, nil])])
        #expect(empty.int(0, 0) == 0)
        #expect(empty.bool(0, 1) == true)
    }

    @Test func cellsOutsideOfTheResultReadAsNull() throws {
        let result = try connection.query("SELECT 1 AS one")
        #expect(result.column(named: "one") == 0)
        #expect(result.column(named: "One") == nil)
        #expect(result.isNull(1, 0) && result.isNull(0, 1) && result.isNull(-1, 0))
        #expect(result.bytes(5, 5).isEmpty)
    }

    @Test func countsWhatAStatementTouched() throws {
        try connection.script("CREATE TEMP TABLE t (n int); INSERT INTO t SELECT generate_series(1, 7)")
        #expect(try connection.query("UPDATE t SET n = n + 1 WHERE n > $1", [.int(4)]).affectedRows == 3)
        #expect(try connection.query("SELECT 1").affectedRows == 1)
        #expect(try connection.query("CREATE TEMP TABLE u ()").affectedRows == 0)
    }

    @Test func resultsOutliveTheirConnection() throws {
        var other: Connection? = try ScratchDatabase.shared().connect()
        let result = try #require(try other?.query("SELECT repeat('x', 100000)"))
        other = nil
        #expect(result.string(0, 0).utf8.count == 100_000)
        #expect(result.isNull(9, 9))
    }

    @Test func aFailedStatementLeavesTheConnectionUsable() throws {
        #expect(throws: PostgresError.self) { try connection.query("SELECT nonsense") }
        #expect(throws: PostgresError.self) { try connection.script("BEGIN; SELECT 1/0") }
        #expect(connection.isInTransaction)
        try connection.script("ROLLBACK")
        #expect(!connection.isInTransaction)
        #expect(connection.isAlive)
        #expect(try connection.query("SELECT 1").int(0, 0) == 1)
    }

    @Test func noticesAreCollectedNotPrinted() throws {
        try connection.script("DO $$ BEGIN RAISE NOTICE 'first'; RAISE WARNING 'second'; END $$")
        let notices = connection.takeNotices()
        #expect(notices.map(\.message) == ["first", "second"])
        #expect(notices.map(\.severity) == ["NOTICE", "WARNING"])
        #expect(connection.takeNotices().isEmpty)
    }

    @Test func knowsTheServer() throws {
        #expect(connection.serverVersion >= 150_000)
        #expect(try connection.query("SELECT pg_backend_pid()").int(0, 0) == connection.backendProcessID)
        #expect(try connection.query("SHOW client_encoding").string(0, 0) == "UTF8")
        #expect(try connection.query("SHOW application_name").string(0, 0) == "todoke tests")
    }

    @Test func quotesIdentifiers() throws {
        let name = "Odd \"name\""
        let result = try connection.query("SELECT 1 AS \(connection.quoteIdentifier(name))")
        #expect(result.columnName(0) == name)
    }

    @Test func hearsNotifications() throws {
        try connection.script("LISTEN heard")
        try ScratchDatabase.shared().connect().query("SELECT pg_notify('heard', 'payload ü')")
        let heard = try connection.notifications(waitMilliseconds: 10_000)
        #expect(heard.map(\.channel) == ["heard"])
        #expect(heard.map(\.payload) == ["payload ü"])
        #expect(try connection.notifications(waitMilliseconds: 0).isEmpty)
    }

    @Test func copyIsRefusedWhereAResultIsExpected() throws {
        try connection.script("CREATE TEMP TABLE c (n int)")
        #expect(throws: PostgresError.self) { try connection.query("COPY (SELECT 1) TO STDOUT") }
        #expect(throws: PostgresError.self) { try connection.script("COPY c FROM STDIN") }
        #expect(try connection.query("SELECT count(*) FROM c").int(0, 0) == 0)
    }
}
