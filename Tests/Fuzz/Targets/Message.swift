@testable import Delivery

extension FuzzTarget {
    /// The payload rules, over a message and over a request's body.
    ///
    /// The same report twice; what is valid stays valid, and says the same of target, when it is parsed and written anew.
    static let message = FuzzTarget("message") { input in
        let report = MessageRules.check(input)
        let again = MessageRules.check(input)
        expect(report.errors == again.errors && report.warnings == again.warnings, "two reports on one message differ")
        expect(report.target == again.target, "two targets of one message differ")
        expect(report.errors.count <= 32, "more than 32 errors")
        expect(report.errors.allSatisfy { !$0.field.isEmpty && !$0.reason.isEmpty }, "an error without field or reason")
        if report.isValid { checkValid(report, input) }

        let request = MessageRules.checkRequest(input)
        if let range = request.message {
            expect(range.lowerBound >= 0 && range.upperBound <= input.count, "the message is outside of the body")
            if request.report.isValid {
                let inner = MessageRules.check(input.extracting(range))
                expect(inner.isValid, "valid in its request and not alone: \(inner.errors)")
            }
        } else {
            expect(!request.report.isValid, "a request without a message is valid")
        }
    }

    private static func checkValid(_ report: MessageReport, _ input: Span<UInt8>) {
        expect(report.target != nil, "valid without a target")
        guard let value = try? JSONValue.parse(input) else { fail("valid, and the parser refuses it") }
        var compact: [UInt8] = []
        value.write(into: &compact)
        let rewritten = MessageRules.check(compact.span)
        expect(rewritten.isValid, "valid, and not when it is written anew: \(rewritten.errors)")
        expect(rewritten.target == report.target, "another target when written anew")
        if let ttl = report.androidTTL {
            expect(ttl.start >= 0 && ttl.length > 0 && ttl.start + ttl.length <= input.count, "the ttl is outside")
            for index in ttl.start..<ttl.start + ttl.length {
                expect((0x30...0x39).contains(input[index]), "the ttl's range holds something else than digits")
            }
        }
    }
}
