import Testing

@testable import Operations

@Suite struct LineReaderTests {
    /// The lines of a text that arrives in pieces of this size; nil for one that is too long.
    static func lines(_ text: some Sequence<UInt8>, limit: Int = 100, piece: Int) throws -> [String?] {
        var rest = Array(text)[...]
        var reader = LineReader(
            ByteReader { (buffer) throws(Failure) in
                buffer = Array(rest.prefix(piece))
                rest = rest.dropFirst(piece)
            }, limit: limit)
        var lines: [String?] = []
        while try reader.next() {
            lines.append(reader.isTooLong ? nil : String(decoding: reader.bytes, as: UTF8.self))
            #expect(reader.number == lines.count)
        }
        #expect(try !reader.next(), "the end stays the end")
        #expect(reader.bytesTaken == Array(text).count)
        return lines
    }

    @Test(
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n", [""]), ("\n\na\r\n", ["", "", "a\r"]),
            ("\u{FEFF}a\n\u{FEFF}b", ["a", "\u{FEFF}b"]),
        ] as [(String, [String])], [1, 2, 3, 7, 100])
    func `lines end where they end, in whatever pieces they come`(_ pair: (String, [String]), _ piece: Int) throws {
        // Byte by byte: to a String a mark of byte order at its start is nothing.
        #expect(
            try Self.lines(pair.0.utf8, piece: piece).map { Array(($0 ?? "nil").utf8) } == pair.1.map { Array($0.utf8) }
        )
    }

    @Test(arguments: [1, 2, 3, 4, 5, 100])
    func `a line that is too long is passed over`(_ piece: Int) throws {
        #expect(
            try Self.lines("aaa\naaaa\nb\naaaaaaaaaa".utf8, limit: 3, piece: piece) == ["aaa", nil, "b", nil])
    }

    @Test(arguments: [("", true), (" \t\r", true), ("a", false), ("\u{B}", false)])
    func `blank lines`(_ text: String, _ isBlank: Bool) throws {
        var reader = LineReader(ByteReader { (buffer) throws(Failure) in buffer = [] }, limit: 4)
        #expect(try !reader.next())
        var rest = Array("\(text)\n".utf8)
        reader = LineReader(
            ByteReader { (buffer) throws(Failure) in
                buffer = rest
                rest = []
            }, limit: 4)
        #expect(try reader.next())
        #expect(reader.isBlank == isBlank)
    }
}
