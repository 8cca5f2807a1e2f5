/// Why some bytes are not the JSON this pipeline accepts, and where.
///
/// Stricter than RFC 8259 where a lenient reading loses data later: a repeated key, a NUL (which Postgres cannot store
/// in `json` text) and a lone surrogate are errors too.
package struct JSONError: Error, Equatable, Sendable {
    /// What is wrong.
    package enum Problem: String, Sendable {
        case emptyInput = "no JSON value"
        case endOfInput = "the text ends inside a value"
        case trailingBytes = "something follows the value"
        case expectedValue = "a value is expected"
        case expectedKey = "a key in double quotes is expected"
        case expectedColon = "a ':' is expected after the key"
        case expectedCommaOrBrace = "a ',' or '}' is expected"
        case expectedCommaOrBracket = "a ',' or ']' is expected"
        case badNumber = "not a number of RFC 8259"
        case numberTooLarge = "a number larger than any double"
        case badEscape = "not an escape of RFC 8259"
        case controlCharacter = "a control character must be written as an escape"
        case nul = "NUL (U+0000) is not allowed"
        case loneSurrogate = "half of a surrogate pair"
        case invalidUTF8 = "not valid UTF-8"
        case duplicateKey = "the key appears twice in one object"
        case tooDeep = "nested more than 100 levels deep"
    }

    package let problem: Problem
    /// Bytes before the place, from 0.
    package let offset: Int
    /// Line of the place, from 1; lines end with LF.
    package let line: Int
    /// Column of the place, from 1, counted in Unicode scalars.
    package let column: Int

    init(_ problem: Problem, at offset: Int, in bytes: Span<UInt8>) {
        self.problem = problem
        self.offset = offset
        var line = 1
        var column = 1
        var index = 0
        while index < offset && index < bytes.count {
            let byte = bytes[index]
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
            index += 1
        }
        self.line = line
        self.column = column
    }
}

extension JSONError: CustomStringConvertible {
    /// What is wrong and where; the line is left out where the text has but one as far as that.
    var inOneLine: String { line == 1 ? "column \(column): \(problem.rawValue)" : description }

    package var description: String { "line \(line), column \(column): \(problem.rawValue)" }
}
