/// The text of a file with one SQL statement, as `psql -f` would take it.
///
/// Strings, quoted names and comments may hold semicolons; PostgreSQL's manual, "Lexical Structure" (4.1), says where they end.
enum SQLText: Equatable {
    /// White space, comments and semicolons only.
    case empty
    /// The statement, without what follows its last word: semicolons, white space, comments.
    case one(String)
    /// Something follows a semicolon.
    case several

    init(_ text: [UInt8]) {
        var scanner = Scanner(bytes: text.starts(with: [0xEF, 0xBB, 0xBF]) ? text[3...] : text[...])
        var isClosed = false
        var start: Int?
        var end = 0
        while let token = scanner.next() {
            switch token {
            case .blank: continue
            case .semicolon: isClosed = start != nil
            case .word(let range):
                if isClosed {
                    self = .several
                    return
                }
                start = start ?? range.lowerBound
                end = range.upperBound
            }
        }
        guard let start else {
            self = .empty
            return
        }
        self = .one(String(decoding: text[start..<end], as: UTF8.self))
    }

    private enum Token {
        case blank
        case semicolon
        /// A quoted piece, or one byte of anything else.
        case word(Range<Int>)
    }

    private struct Scanner {
        let bytes: ArraySlice<UInt8>
        private var index: Int

        init(bytes: ArraySlice<UInt8>) {
            self.bytes = bytes
            index = bytes.startIndex
        }

        mutating func next() -> Token? {
            guard let byte = at(index) else { return nil }
            let start = index
            switch byte {
            case UInt8(ascii: ";"):
                index += 1
                return .semicolon
            case UInt8(ascii: "-") where at(index + 1) == UInt8(ascii: "-"):
                index = bytes[index...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.endIndex
                return .blank
            case UInt8(ascii: "/") where at(index + 1) == UInt8(ascii: "*"):
                skipComment()
                return .blank
            case UInt8(ascii: "'"): skipQuoted(byte, escapes: isEscapeString)
            case UInt8(ascii: "\""): skipQuoted(byte, escapes: false)
            case UInt8(ascii: "$"): skipDollarQuoted()
            case 0x09...0x0D, 0x20:
                index += 1
                return .blank
            default: index += 1
            }
            return .word(start..<index)
        }

        private func at(_ place: Int) -> UInt8? { bytes.indices.contains(place) ? bytes[place] : nil }

        private static func continuesName(_ byte: UInt8?) -> Bool {
            guard let byte else { return false }
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
                return true
            default: return false
            }
        }

        /// In `E'…'` a backslash takes the next byte's meaning away.
        private var isEscapeString: Bool {
            guard let letter = at(index - 1), letter | 0x20 == UInt8(ascii: "e") else { return false }
            return !Self.continuesName(at(index - 2))
        }

        /// To behind the quote that ends it; two in a row are one of its text, and look like one string after another here.
        private mutating func skipQuoted(_ quote: UInt8, escapes: Bool) {
            index += 1
            while let byte = at(index) {
                index += escapes && byte == UInt8(ascii: "\\") ? 2 : 1
                if byte == quote && at(index) != quote { break }
                if byte == quote { index += 1 }
            }
            index = min(index, bytes.endIndex)
        }

        /// `$$ … $$` or `$tag$ … $tag$`; a `$1` or the `$` in a name is only itself.
        private mutating func skipDollarQuoted() {
            let start = index
            index += 1
            guard !Self.continuesName(at(start - 1)) else { return }
            var end = index
            while let byte = at(end), byte != UInt8(ascii: "$"), Self.continuesName(byte) { end += 1 }
            guard at(end) == UInt8(ascii: "$") else { return }
            if let first = at(index), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) { return }
            let mark = bytes[start...end]
            index = end + 1
            while index < bytes.endIndex {
                if bytes[index...].starts(with: mark) {
                    index += mark.count
                    return
                }
                index += 1
            }
        }

        /// Comments in `/* */` nest.
        private mutating func skipComment() {
            var depth = 0
            while index < bytes.endIndex {
                if bytes[index...].starts(with: [UInt8(ascii: "/"), UInt8(ascii: "*")]) {
                    depth += 1
                    index += 2
                } else if bytes[index...].starts(with: [UInt8(ascii: "*"), UInt8(ascii: "/")]) {
                    depth -= 1
                    index += 2
                    if depth == 0 { return }
                } else {
                    index += 1
                }
            }
        }
    }
}
