import Postgres
import TestSupport
import Testing

@Suite(.scratchDatabase) struct PostgresConnectionTests {
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
        #expect(result.bytes(0, 4) == Array("{\"a\": 1}".utf8))
        #expect(result.bool(0, 5) == true)
        #expect(result.double(0, 6) == 1.5)
        #expect(result.withSpan(0, 7) { $0.count } == 1)
    }

    @Test(arguments: [
        ("9223372036854775807", Int.max), ("-9223372036854775808", Int.min), ("0", 0), ("-1", -1),
        ("9223372036854775808", nil), ("", nil), ("-", nil), ("1.5", nil), ("x", nil),
    ])
    func integersAreReadWholeOrNotAtAll(text: String, expected: Int?) throws {
        #expect(try connection.query("SELECT $1::text", [.text(text)]).int(0, 0) == expected)
    }
}
