import Operations

@testable import Delivery
@testable import OperatorCore

extension FuzzTarget {
    /// What `todoke lint` reads: the same messages in whatever pieces they arrive, and one line of output for each.
    static let lint = FuzzTarget("lint") { input in
        let bytes = input.array
        let documents = readDocuments(bytes, of: bytes.count + 1)
        for size in [1, 7] {
            let again = readDocuments(bytes, of: size)
            let isSame = again.elementsEqual(documents) { $0.line == $1.line && $0.bytes == $1.bytes }
            expect(isSame, "read in pieces of \(size) there are other messages")
        }
        for document in documents {
            let result = LintResult(document, expiresIn: 3600)
            for isJSON in [true, false] {
                let form = LintForm(isJSON: isJSON, isQuiet: false, namesFile: true, hasColour: false)
                guard let line = form.line(for: result, path: "messages.ndjson") else { fail("nothing is printed") }
                checkLine(line, isJSON: isJSON)
            }
        }
    }

    /// A line of `todoke explain --batch`: explained, or refused with a reason, on one line.
    static let explain = FuzzTarget("explain") { input in
        for isJSON in [true, false] {
            let batch = ExplainBatch(defaults: .init(now: 1_700_000_000), isJSON: isJSON)
            switch batch.explain(input.array, number: 1) {
            case .success(let line): checkLine(line, isJSON: isJSON)
            case .failure(let fault):
                expect(!fault.reason.isEmpty, "refused without a reason")
                checkLine(isJSON ? fault.json(line: 1).text : "1\(fault.label): \(fault.reason)", isJSON: isJSON)
            }
        }
        guard let given = try? AnswerCase(line: input, defaults: .init(now: 1_700_000_000)) else { return }
        expect(!Explanation(given).text.isEmpty, "nothing to read")
    }

    private static func readDocuments(_ bytes: [UInt8], of size: Int) -> [Document] {
        var rest = bytes[...]
        var reader = DocumentReader(
            ByteReader { (buffer) throws(Failure) in
                buffer = Array(rest.prefix(size))
                rest = rest.dropFirst(size)
            })
        var documents: [Document] = []
        do throws(Failure) {
            while let document = try reader.next() { documents.append(document) }
        } catch { fail("text ends the run: \(error.what)") }
        return documents
    }

    private static func checkLine(_ line: String, isJSON: Bool) {
        expect(
            !line.isEmpty && line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || isJSON && $0 == 0x7F },
            "no one line: \(line)")
        if isJSON { expect((try? JSONValue.parse(Array(line.utf8).span)) != nil, "no JSON: \(line)") }
    }
}
