import Testing

@testable import Delivery

/// One answer of a provider and what it means.
struct AnswerVector: CustomTestStringConvertible, Sendable {
    let name: String
    let provider: String
    let answer: ProviderAnswer
    let kind: String
    let retryAfter: Int?

    var testDescription: String { name }

    init?(_ line: JSONValue) {
        guard let name = line["name"]?.stringValue, let provider = line["provider"]?.stringValue,
            let status = line["status"]?.integer, let kind = line["class"]?.stringValue
        else { return nil }
        func header(_ name: String) -> String? {
            line["headers"]?.objectValue?.first { $0.key.lowercased() == name }?.value.stringValue
        }
        self.name = name
        self.provider = provider
        self.kind = kind
        retryAfter = line["retry_after_s"]?.integer
        answer = ProviderAnswer(
            status: status, retryAfter: header("retry-after"), date: header("date"), apnsID: header("apns-id"),
            body: Array((line["body"]?.stringValue ?? "").utf8))
    }

    static func all() throws -> [AnswerVector] {
        try VectorFile.read("open-error-class").compactMap { AnswerVector($0) }
    }
}

@Suite struct AnswerVectorTests {
    @Test(arguments: try AnswerVector.all())
    func `an answer gets the right class`(_ vector: AnswerVector) {
        let now = 1_790_000_000
        let verdict =
            vector.provider == "fcm" ? Verdict.fcm(vector.answer, now: now) : Verdict.apns(vector.answer, now: now)
        #expect(verdict.kind.rawValue == vector.kind, "\(vector.name): \(verdict)")
        #expect(verdict.retryAfterSeconds == vector.retryAfter, "\(vector.name): \(verdict)")
        #expect(!verdict.hint.isEmpty && !verdict.code.isEmpty)
    }

    @Test func `the file holds every class`() throws {
        let vectors = try AnswerVector.all()
        #expect(vectors.count >= 80)
        let kinds = Set(vectors.map(\.kind))
        #expect(kinds == Set(VerdictClass.allCases.filter { $0 != .unknown }.map(\.rawValue)))
    }
}
