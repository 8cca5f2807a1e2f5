import Testing

@testable import Delivery

/// One message and whether FCM and the SDKs would take it.
struct PayloadVector: CustomTestStringConvertible, Sendable {
    let name: String
    let message: [UInt8]
    let isValid: Bool
    let why: String

    var testDescription: String { name }

    init?(_ line: JSONValue) {
        guard let name = line["name"]?.stringValue, let input = line["input"], let valid = line["valid"] else {
            return nil
        }
        self.name = name
        message = input.bytes
        isValid = valid.isTrue
        why = line["why"]?.stringValue ?? ""
    }

    static func all() throws -> [PayloadVector] {
        try VectorFile.read("open-fcm-payload").compactMap { PayloadVector($0) }
    }
}

@Suite struct PayloadVectorTests {
    @Test(arguments: try PayloadVector.all())
    func `a message is accepted or refused as the provider would`(_ vector: PayloadVector) {
        let report = MessageRules.check(vector.message.span)
        #expect(report.isValid == vector.isValid, "\(vector.name): \(vector.why); found \(report.errors)")
        #expect(report.errors.allSatisfy { $0.field.hasPrefix("message") && !$0.reason.isEmpty })
        #expect(report.errors.allSatisfy { $0.description.utf8.count < 700 })
    }

    @Test func `the file holds both kinds of messages`() throws {
        let vectors = try PayloadVector.all()
        #expect(vectors.count >= 190)
        #expect(vectors.contains { $0.isValid } && vectors.contains { !$0.isValid })
    }
}
