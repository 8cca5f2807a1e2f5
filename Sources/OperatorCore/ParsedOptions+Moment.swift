import Delivery
import Operations

extension ParsedOptions {
    /// The option as a moment with an offset, in seconds since 1970; `nil` when it is not given.
    func moment(_ name: String) throws(Failure) -> Int? {
        guard let text = given(name) else { return nil }
        let bytes = Array(text.utf8)
        // Without an offset nothing says which six o'clock is meant.
        let hasOffset = bytes.last == UInt8(ascii: "Z") || bytes.dropFirst(11).contains { $0 == 0x2B || $0 == 0x2D }
        guard hasOffset, let seconds = Moment.seconds(bytes.span) else {
            throw Failure(
                .usage,
                "--\(name) must be a date and time with an offset, such as 2026-11-30T18:00:00+09:00 or …Z, "
                    + "not \(GivenText.quoted(text))",
                remedy: "see \(program) --help")
        }
        return seconds
    }
}
