@testable import Delivery
@testable import Emulator

extension FuzzTarget {
    /// The envelope around a message, and the words for what is wrong inside.
    ///
    /// Where the rules take a whole request, the envelope finds the same message.
    static let envelope = FuzzTarget("envelope") { input in
        let request = MessageRules.checkRequest(input)
        do throws(Envelope.Fault) {
            let envelope = try Envelope(input)
            guard let range = envelope.message else { return }
            expect(range.lowerBound >= 0 && range.upperBound <= input.count, "the message is outside of the body")
            // Names with escapes are read by the rules alone.
            guard request.report.isValid, !input.array.contains(UInt8(ascii: "\\")) else { return }
            expect(range == request.message, "\(range) where the rules have \(String(describing: request.message))")
            expect(envelope.isValidateOnly == request.isValidateOnly, "validate_only is read differently")
        } catch {
            expect(!error.description.isEmpty, "a fault without words")
            guard !input.array.contains(UInt8(ascii: "\\")) else { return }
            expect(!request.report.isValid, "refused, and valid by the rules: \(error.description)")
        }
    }

    /// The server's words for each issue of a message.
    static let wording = FuzzTarget("wording") { input in
        let issues = MessageRules.check(input).errors
        guard !issues.isEmpty else { return }
        let wording = ServerWording(message: input)
        for issue in issues {
            let violation = wording.violation(issue)
            expect(!violation.description.isEmpty, "no words for \(issue)")
            var field: [UInt8] = []
            appendJSONString(violation.field + violation.description, into: &field)
            expect((try? JSONValue.parse(field.span)) != nil, "words that no JSON can hold")
        }
    }

    /// Method and path, on two lines.
    static let route = FuzzTarget("route", longest: 512) { input in
        let lines = input.array.lines
        guard lines.count == 2 else { return }
        if case .send(let project) = Route(method: lines[0], path: lines[1]) {
            expect(!project.isEmpty && project.upperBound <= lines[1].count, "a project outside of the path")
            expect(!lines[1][project].contains(UInt8(ascii: "/")), "a project with a slash")
        }
    }
}
