import Delivery
import Operations

/// Answers from lines of JSON, explained one line each.
struct ExplainBatch {
    let defaults: AnswerCase.Defaults
    let isJSON: Bool

    /// Explains every line; a line that cannot be read says why in its place, and the next ones go on.
    ///
    /// Throws a data failure at the end when there was such a line. Blank lines are skipped.
    func run(_ lines: InputLines, _ output: StandardStream) throws(Failure) {
        var text = ""
        var number = 0
        var faults = 0
        var firstFault = 0
        func flush() {
            if !text.isEmpty { output.write(text) }
            text.removeAll(keepingCapacity: true)
        }
        defer { flush() }
        while let line = try lines.next(idle: flush) {
            number += 1
            switch explain(line, number: number) {
            case nil: continue
            case .success(let result)?: text += result
            case .failure(let fault)?:
                text += isJSON ? fault.json(line: number).text : "\(number)\(fault.label): \(fault.reason)"
                if faults == 0 { firstFault = number }
                faults += 1
            }
            text += "\n"
            // However large a piece of the input is, what is said about it does not pile up.
            if text.utf8.count > 64 << 10 { flush() }
        }
        guard faults == 0 else {
            throw Failure(
                .data, "\(faults) of \(number) lines cannot be explained, the first is line \(firstFault)",
                remedy: "see what is printed in their place")
        }
    }

    /// What is printed for a line; nil for a blank one.
    func explain(_ line: InputLines.Line, number: Int) -> Result<String, LineFault>? {
        guard case .text(let bytes) = line else {
            return .failure(LineFault(reason: "longer than \(InputLines.longest >> 20) MiB"))
        }
        let hasMark = number == 1 && bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let text = hasMark ? bytes.span.extracting(3..<bytes.count) : bytes.span
        guard !bytes.dropFirst(hasMark ? 3 : 0).allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else {
            return nil
        }
        do throws(LineFault) {
            let explanation = Explanation(try AnswerCase(line: text, defaults: defaults))
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
