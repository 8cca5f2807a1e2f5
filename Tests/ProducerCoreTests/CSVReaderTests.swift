import Delivery
import Operations
import Rows
import Testing

@testable import ProducerCore

@Suite("CSV audiences")
struct CSVReaderTests {
    private func read(_ text: String) throws -> [String] { try rows(CSVReader(pieces(Array(text.utf8), of: 1 << 16))) }

    @Test(
        "Rows as in RFC 4180",
        arguments: [
            ("a,b\n1,2\n", ["2: 1|2"]), ("a,b\r\n1,2\r\n", ["2: 1|2"]), ("a,b\n1,2", ["2: 1|2"]),
            ("a,b\n\"1\",\"2\"", ["2: 1|2"]), ("a,b\n\"x,y\",\"he said \"\"hi\"\"\"\n", ["2: x,y|he said \"hi\""]),
            ("a,b\n\"l1\nl2\r\nl3\",x\ny,z\n", ["2: l1\nl2\r\nl3|x", "5: y|z"]),
            ("a,b\n,\n\n\r\n\"\",\"\"\n", ["2: |", "5: |"]), ("\u{FEFF}a,b\n1,2\n", ["2: 1|2"]),
            ("\u{FEFF}\"a\",b\r\n1,2\r\n", ["2: 1|2"]), ("a\n\"x\"\r\n", ["2: x"]),
            ("a,b\n1,mid\"dle\n", ["2: 1|mid\"dle"]),
            ("a,b\n👩‍🍳,\u{2028}\n", ["2: 👩‍🍳|\u{2028}"]), ("a,b\n1,\\back\n", ["2: 1|\\back"]),
            ("a,b\n \"1\" , 2 \n", ["2:  \"1\" | 2 "]), ("a,b\n1,a\rb\n", ["2: 1|a\rb"]), ("a,b\n", []),
            ("\n\r\n\na,b\n1,2\n", ["5: 1|2"]),
            ("\"a\r\na\",b\n1,2\n", ["3: 1|2"]),
        ] as [(String, [String])])
    func good(_ text: String, _ expected: [String]) throws {
        #expect(try read(text) == expected)
    }

    @Test(
        "A row that cannot be used is refused with its line, the next is read",
        arguments: [
            ("a,b\n1\n2,3\n", ["2! 1 fields where the header has 2", "3: 2|3"]),
            ("a,b\n1,2,3\n2,3\n", ["2! 3 fields where the header has 2", "3: 2|3"]),
            ("a,b\n\"1\"x,2\n3,4\n", ["2! text after the closing quote of a field", "3: 3|4"]),
            ("a,b\n\"1\"\rx,2\n3,4\n", ["2! text after the closing quote of a field", "3: 3|4"]),
            ("a,b\n3,4\n1,\"open\n", ["2: 3|4", "3! a quoted field is not closed"]),
            ("a,b\n1,\u{0}\n3,4\n", ["2! contains NUL (U+0000)", "3: 3|4"]),
            ("a,b\n1,\"x\n\ny\u{0}\n\"\n3,4\n", ["2! contains NUL (U+0000) on line 4", "6: 3|4"]),
        ] as [(String, [String])])
    func refused(_ text: String, _ expected: [String]) throws {
        #expect(try read(text) == expected)
    }

    @Test("Invalid UTF-8 is refused with its line, also halves of a character in two fields")
    func invalidUTF8() throws {
        let text: [UInt8] = Array("a,b\nx,".utf8) + [0xFF] + Array("\ny,z\n".utf8) + [0xC3, 0x2C, 0xA9, 0x0A]
        #expect(
            try rows(CSVReader(pieces(text, of: 100)))
                == ["2! not valid UTF-8", "3: y|z", "4! not valid UTF-8"])
    }

    @Test("The pieces in which the input arrives make no difference")
    func everySplit() throws {
        let text = Array(
            "\u{FEFF}id,\"na\"\"me\",x\r\n1,\"a\"\"b,\r\n👩‍🍳\",\r\n\r\n2,\"\",é\n\"3\",,\"\"\r\n4,5\n\"6\"7,8,9\n7,8,\"9"
                .utf8)
        let whole = try CSVReader(pieces(text, of: text.count))
        let expected = try rows(whole)
        #expect(whole.columns == ["id", "na\"me", "x"])
        #expect(expected.count == 6)
        for index in 0...text.count {
            let reader = try CSVReader(pieces(text, splitAt: index))
            #expect(reader.columns == whole.columns, "split at \(index)")
            #expect(try rows(reader) == expected, "split at \(index)")
        }
        for size in 1...7 { #expect(try rows(CSVReader(pieces(text, of: size))) == expected, "pieces of \(size)") }
    }

    @Test(
        "A header that cannot be used ends the run",
        arguments: [
            ("", "is empty"), ("\u{FEFF}", "is empty"), ("a,b,a\n1,2,3\n", "\"a\" twice"), ("a,\"b\n", "not closed"),
            ("\n\r\n\n", "is empty"), ("a,b\r1,2\r3,4\r", "CR alone"),
        ])
    func header(_ text: String, _ reason: String) {
        #expect {
            try read(text)
        } throws: { error in
            (error as? Failure).map { $0.exit == .data && $0.what.contains(reason) } ?? false
        }
    }

    @Test("Tens of thousands of columns are read at once, not compared one with another", .timeLimit(.minutes(1)))
    func manyColumns() throws {
        let names = (0..<150_000).map { String($0, radix: 36) }
        let reader = try CSVReader(pieces(Array((names.joined(separator: ",") + "\n").utf8), of: 1 << 16))
        #expect(reader.columns == names)
    }

    private func long(_ first: String, thenX count: Int, last: String) -> ByteReader {
        var left = count + 2
        return ByteReader { (buffer) throws(Failure) in
            left -= 1
            switch left {
            case count + 1: buffer = Array(first.utf8)
            case 1...: buffer = Array(repeating: UInt8(ascii: "x"), count: 1 << 16)
            case 0: buffer = Array(last.utf8)
            default: buffer = []
            }
        }
    }

    @Test("A row of more than 1 MiB is refused, and the next one read", arguments: ["x,", "x,\"", ",,"])
    func longRow(_ start: String) throws {
        let end = start.hasSuffix("\"") ? "\",z\nc,d\n" : "\nc,d\n"
        var reader = try CSVReader(long("a,b\n\(start)", thenX: 20, last: end))
        var row = TemplateRow()
        guard case .refused(2, let reason, let input) = try reader.next(into: &row) else {
            Issue.record("not refused")
            return
        }
        #expect(reason == "longer than 1 MiB")
        #expect(input.hasPrefix(start.replacing("\"", with: "")) && input.utf8.count <= RowLimits.keptInput)
        #expect(row.bytes.count <= RowLimits.row + 8)
        #expect(try reader.next(into: &row) == .row(line: 3))
        #expect(row.text(0) == "c" && row.text(1) == "d")
        #expect(try reader.next(into: &row) == .end)
    }

    @Test("A quote that is never closed ends the run, and says where it is")
    func runaway() {
        #expect {
            try rows(CSVReader(long("a,b\nx,\"", thenX: 20, last: "")))
        } throws: { error in (error as? Failure)?.what.contains("line 2") == true }
    }

    @Test("Another delimiter", arguments: [";", "|", "\t"])
    func delimiter(_ text: String) throws {
        let bytes = Array("a\(text)b\n1,5\(text)\"x\(text)y\"\n".utf8)
        #expect(
            try rows(CSVReader(pieces(bytes, of: 3), delimiter: Array(text.utf8)[0])) == ["2: 1,5|x\(text)y"])
    }
}
