import Foundation

@testable import Delivery

/// The case files beside the tests: one JSON object a line.
enum VectorFile {
    struct Missing: Error {}

    /// The lines of a case file, parsed.
    static func read(_ name: String) throws -> [JSONValue] {
        guard let url = Bundle.module.url(forResource: name, withExtension: "jsonl", subdirectory: "Vectors") else {
            throw Missing()
        }
        return try [UInt8](Data(contentsOf: url)).split(separator: UInt8(ascii: "\n"))
            .map { try JSONValue.parse(Array($0).span) }
    }
}

extension JSONValue {
    /// The value as bytes, compact.
    var bytes: [UInt8] {
        var output: [UInt8] = []
        write(into: &output)
        return output
    }

    var isTrue: Bool { self == .boolean(true) }

    var integer: Int? { if case .number(let text) = self { Int(text) } else { nil } }
}
