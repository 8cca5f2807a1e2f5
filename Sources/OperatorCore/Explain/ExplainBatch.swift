import Delivery
import Operations

/// Answers from lines of JSON, explained one line each.
struct ExplainBatch {
    let defaults: AnswerCase.Defaults
    let isJSON: Bool

    /// Bytes in one line: a body of a mebibyte may be six times as long once it is escaped.
    static let longestLine = 8 << 20

    /// Explains every line; a line that cannot be read says why in its place, and the next ones go on.
    ///
    /// Throws a data failure at the end when there was such a line. Blank lines are skipped.
    func run(_ file: InputFile, _ stream: StandardStream) throws(Failure) {
        let output = BufferedOutput(stream)
        defer { output.flush() }
        var lines = LineReader(file.bytes(willRead: output.flush), limit: Self.longestLine)
        var faults = 0
        var firstFault = 0
        while try lines.next() {
            if lines.isBlank { continue }
            let tooLong = LineFault(reason: "longer than \(Self.longestLine >> 20) MiB")
            switch lines.isTooLong ? .failure(tooLong) : explain(lines.bytes, number: lines.number) {
            case .success(let result): output.writeLine(result)
            case .failure(let fault):
                output.writeLine(
                    isJSON ? fault.json(line: lines.number).text : "\(lines.number)\(fault.label): \(fault.reason)")
                if faults == 0 { firstFault = lines.number }
                faults += 1
            }
        }
        try output.finish()
        guard faults == 0 else {
            throw Failure(
                .data, "\(faults) of \(lines.number) lines cannot be explained, the first is line \(firstFault)",
                remedy: "see what is printed in their place")
        }
    }

    /// What is printed for a line.
    func explain(_ bytes: [UInt8], number: Int) -> Result<String, LineFault> {
        do throws(LineFault) {
            let explanation = Explanation(try AnswerCase(line: bytes.span, defaults: defaults))
            return .success(isJSON ? explanation.json(line: number).text : explanation.summary(line: number))
        } catch {
            return .failure(error)
        }
    }
}

extension LineFault {
    /// The line's name and a word that says that this is no explanation.
    var label: String { (name.map { " \(printable($0))" } ?? "") + ": error" }
}
