import Operations

/// One JSON text of an input.
struct Document {
    /// The line where it begins, from 1.
    var line: Int
    var bytes: [UInt8]
    var isTooLong = false
}

/// The JSON texts of an input: one a line, or laid out over several lines as pretty-printers do.
struct DocumentReader {
    /// The longest text, in bytes.
    static let limit = 1 << 20

    private var lines: LineReader

    init(_ source: ByteReader) {
        lines = LineReader(source, limit: Self.limit)
    }

    /// The present line has not been used yet.
    private var isLineWaiting = false

    /// The next text, right or wrong, blank lines aside; nil at the end of the input.
    mutating func next() throws(Failure) -> Document? {
        repeat { guard try nextLine() else { return nil } } while lines.isBlank
        var document = Document(line: lines.number, bytes: lines.bytes, isTooLong: lines.isTooLong)
        guard !document.isTooLong, Self.goesOn(document.bytes) else { return document }
        var depth = Self.depth(document.bytes)
        while depth > 0, try nextLine() {
            // A line that begins like one of its own shows that the text before it was cut off.
            if lines.bytes.first == UInt8(ascii: "{") {
                isLineWaiting = true
                break
            }
            depth += Self.depth(lines.bytes)
            if document.isTooLong { continue }
            document.isTooLong = lines.isTooLong || document.bytes.count + lines.bytes.count >= Self.limit
            if document.isTooLong { continue }
            document.bytes.append(UInt8(ascii: "\n"))
            document.bytes += lines.bytes
        }
        return document
    }

    private mutating func nextLine() throws(Failure) -> Bool {
        if isLineWaiting {
            isLineWaiting = false
            return true
        }
        return try lines.next()
    }

    /// Whether a line ends where only a text over several lines would break it.
    private static func goesOn(_ line: [UInt8]) -> Bool {
        guard let last = line.last(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { return false }
        return [UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ",")].contains(last)
    }

    /// How many more brackets a line opens than it closes, those in strings aside: no string goes over a line's end.
    private static func depth(_ line: [UInt8]) -> Int {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in line {
            if isEscaped {
                isEscaped = false
                continue
            }
            switch byte {
            case UInt8(ascii: "\\") where isInString: isEscaped = true
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "{") where !isInString, UInt8(ascii: "[") where !isInString: depth += 1
            case UInt8(ascii: "}") where !isInString, UInt8(ascii: "]") where !isInString: depth -= 1
            default: break
            }
        }
        return depth
    }
}
