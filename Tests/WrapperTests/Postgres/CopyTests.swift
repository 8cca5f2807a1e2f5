import Postgres
import TestSupport
import Testing

@Suite(.scratchDatabase) struct CopyTests {
    let connection: Connection

    init() throws {
        connection = try ScratchDatabase.shared().connect()
        try connection.script("CREATE TEMP TABLE c (n bigint CHECK (n <> -13), b bytea)")
    }

    @Test func binaryCopyTakesBuffersOfAnySize() throws {
        // One buffer of some 4 MB, cut where no row ends.
        var bytes = BinaryCopy.header
        for n in 0..<4_000 { bytes += BinaryCopy.row(Int64(n), Array(repeating: UInt8(n % 256), count: 1_000)) }
        bytes += BinaryCopy.trailer
        try connection.copyIn("COPY c FROM STDIN (FORMAT binary)")
        try bytes.withUnsafeBytes { whole in
            try connection.putCopy(UnsafeRawBufferPointer(rebasing: whole[..<7]))
            try connection.putCopy(UnsafeRawBufferPointer(rebasing: whole[7..<7]))
            try connection.putCopy(UnsafeRawBufferPointer(rebasing: whole[7...]))
        }
        #expect(try connection.endCopy() == 4_000)
        let sums = try connection.query(
            "SELECT count(*), sum(n), sum(length(b)), bool_and(get_byte(b, 999) = n % 256) FROM c")
        #expect(sums.int(0, 0) == 4_000)
        #expect(sums.int(0, 1) == 7_998_000)
        #expect(sums.int(0, 2) == 4_000_000)
        #expect(sums.bool(0, 3) == true)
    }

    @Test func anAbortedCopyLeavesNothing() throws {
        try connection.copyIn("COPY c (n) FROM STDIN")
        try connection.putCopy(Array("1\n2\n".utf8).span)
        connection.abortCopy(reason: "changed my mind")
        #expect(try connection.query("SELECT count(*) FROM c").int(0, 0) == 0)
    }

    @Test func aRowThatTheServerRefusesIsNamedInTheMiddleOrAtTheEnd() throws {
        for rows in [1, 200_000] {
            try connection.copyIn("COPY c (n) FROM STDIN")
            let error = #expect(throws: PostgresError.self) {
                try connection.putCopy(Array("-13\n".utf8).span)
                let line = Array("1\n".utf8)
                for _ in 0..<rows { try connection.putCopy(line.span) }
                _ = try connection.endCopy()
            }
            #expect(error?.sqlState == .checkViolation)
            #expect(connection.isAlive)
            #expect(try connection.query("SELECT count(*) FROM c").int(0, 0) == 0)
        }
    }

    @Test func copyOutStreamsRowByRow() throws {
        var rows = 0
        var sum = 0
        try connection.copyOut("COPY (SELECT generate_series(1, 50000)) TO STDOUT") { row in
            rows += 1
            sum += Int(String(decoding: row.dropLast(), as: UTF8.self)) ?? 0
        }
        #expect(rows == 50_000)
        #expect(sum == 1_250_025_000)
        #expect(try connection.query("SELECT 1").int(0, 0) == 1)
    }

    @Test func copyOutCanStopEarly() throws {
        struct Enough: Error {}
        var rows = 0
        #expect(throws: Enough.self) {
            try connection.copyOut("COPY (SELECT generate_series(1, 100000000)) TO STDOUT") { _ in
                rows += 1
                if rows == 10 { throw Enough() }
            }
        }
        #expect(rows == 10)
        #expect(try connection.query("SELECT 1").int(0, 0) == 1)
    }

    @Test func anErrorInTheMiddleOfCopyOutIsThrown() throws {
        var rows = 0
        let error = #expect(throws: PostgresError.self) {
            try connection.copyOut("COPY (SELECT 1 / (1000 - n) FROM generate_series(1, 2000) n) TO STDOUT") { _ in
                rows += 1
            }
        }
        #expect(error?.sqlState?.rawValue == "22012")
        #expect(rows > 0)
        #expect(try connection.query("SELECT 1").int(0, 0) == 1)
    }
}

/// The file format of `COPY … (FORMAT binary)`.
private enum BinaryCopy {
    static let header = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0] + [UInt8](repeating: 0, count: 8)
    static let trailer: [UInt8] = [0xff, 0xff]

    static func row(_ number: Int64, _ bytes: [UInt8]) -> [UInt8] {
        [0, 2] + bigEndian(Int32(8)) + bigEndian(number) + bigEndian(Int32(bytes.count)) + bytes
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
