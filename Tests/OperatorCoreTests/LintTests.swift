import Delivery
import Foundation
import Operations
import Testing

@testable import OperatorCore

enum LintSupport {
    /// The payloads with their expected results, which the tests of the rules share.
    static var vectors: String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "DeliveryTests/Vectors/open-fcm-payload.jsonl").path
    }

    /// The documents of a text that arrives in pieces of this size.
    static func documents(_ text: some Sequence<UInt8>, piece: Int = 4096) throws -> [Document] {
        var rest = Array(text)[...]
        var reader = DocumentReader(
            ByteReader { (buffer) throws(Failure) in
                buffer = Array(rest.prefix(piece))
                rest = rest.dropFirst(piece)
            })
        var documents: [Document] = []
        while let document = try reader.next() { documents.append(document) }
        return documents
    }

    static func lint(_ text: String) throws -> LintResult {
        LintResult(try #require(try documents(text.utf8).first), expiresIn: nil)
    }

    static func line(_ text: String, isJSON: Bool = true, isQuiet: Bool = false, colour: Bool = false) throws -> String?
    {
        LintForm(isJSON: isJSON, isQuiet: isQuiet, namesFile: false, hasColour: colour)
            .line(for: try lint(text), path: "a.ndjson")
    }

    static func run(_ arguments: String...) -> Int32 {
        Operator.run(arguments: ["todoke", "lint"] + arguments, environment: [:])
    }
}

@Suite struct LintTests {
    @Test func `every vector, bare and as a request's body`() throws {
        let lines = try String(contentsOfFile: LintSupport.vectors, encoding: .utf8).split(separator: "\n")
        #expect(lines.count >= 190)
        for line in lines {
            let vector = try JSONValue.parse(Array(line.utf8).span)
            let message = try #require(vector["input"]).text
            let isValid = vector["valid"] == .boolean(true)
            for text in [message, #"{"message":\#(message)}"#, #"{"validate_only":true,"message":\#(message)}"#] {
                let result = try LintSupport.lint(text)
                #expect(result.isValid == isValid, "\(line.prefix(200))")
                #expect(result.errors.allSatisfy { $0.field.hasPrefix("message") && !$0.reason.isEmpty })
            }
        }
    }

    @Test(arguments: [
        (
            #"{"topic":"a","android":{"ttl":"5m"}}"#,
            #"{"line":1,"valid":false,"errors":[{"field":"message.android.ttl","reason":"must be seconds such as "#
                + #"\"3600s\" or \"3.5s\", from 0s to 2419200s; found \"5m\""}],"warnings":[]}"#
        ),
        (#"{"message":{"topic":"a"}}"#, #"{"line":1,"valid":true,"errors":[],"warnings":[]}"#),
        (
            "nonsense",
            #"{"line":1,"valid":false,"errors":[{"field":"message","reason":"is not acceptable JSON: column 1: "#
                + #"a value is expected"}],"warnings":[]}"#
        ),
        (
            #"{"message":{"topic":"a"},"token":"t"}"#,
            #"{"line":1,"valid":false,"errors":[{"field":"token","reason":"is unknown here; allowed are message, "#
                + #"validate_only"}],"warnings":[]}"#
        ),
        (
            #"{"token":"t","validate_only":true}"#,
            #"{"line":1,"valid":false,"errors":[{"field":"message.validate_only","reason":"is unknown here; allowed are "#
                + "token, fid, topic, condition, data, notification, android, android_v2, apns, webpush, fcm_options, name"
                + #""}],"warnings":[]}"#
        ),
        (
            #"{"validate_only":true}"#,
            #"{"line":1,"valid":false,"errors":[{"field":"message","reason":"is required"}],"warnings":[]}"#
        ),
    ])
    func `a result for programs`(_ text: String, _ line: String) throws {
        #expect(try LintSupport.line(text) == line)
    }

    @Test func `a result for people`() throws {
        let wrong = #"{"topic":"a","android":{"collapse_key":"k","ttl":5}}"#
        let line = try #require(try LintSupport.line(wrong, isJSON: false))
        #expect(line.hasPrefix("a.ndjson:1: invalid: message.android.ttl: must be seconds"))
        #expect(line.contains("; warning: message.android.collapse_key: makes the message collapsible"))
        #expect(try LintSupport.line(#"{"topic":"a"}"#, isJSON: false) == "a.ndjson:1: valid")
        #expect(
            try LintSupport.line(#"{"topic":"a"}"#, isJSON: false, colour: true)?.contains("\u{1B}[32mvalid") == true)
        #expect(try LintSupport.line(#"{"topic":"a"}"#, isJSON: false, isQuiet: true) == nil)
        #expect(try LintSupport.line(#"{"topic":"a","android":{"collapse_key":"k"}}"#, isQuiet: true) != nil)
    }

    @Test func `the name of a file cannot pass for output`() throws {
        let form = LintForm(isJSON: false, isQuiet: false, namesFile: false, hasColour: false)
        let result = try LintSupport.lint(#"{"topic":"a"}"#)
        #expect(form.line(for: result, path: "a\n\u{1B}[31mb.ndjson") == "a??[31mb.ndjson:1: valid")
    }

    @Test func `a token is not repeated`() throws {
        let line = try #require(try LintSupport.line(#"{"token":["secret-token"],"fid":"secret-fid","topic":"a b"}"#))
        #expect(!line.contains("secret"))
    }

    @Test func `the exit code tells whether all are valid`() throws {
        func code(_ text: String, _ arguments: String...) throws -> Int32 {
            try ExplainSupport.withFile(text.utf8) { path in
                Operator.run(arguments: ["todoke", "lint"] + arguments + [path], environment: [:])
            }
        }
        let warned = #"{"topic":"a","android":{"ttl":"60s","collapse_key":"k"}}"#
        #expect(try code("{\"topic\":\"a\"}\n\n{\"topic\":\"b\"}") == 0)
        #expect(try code("") == 0)
        #expect(try code("{\"topic\":\"a\"}\n{\"topic\":5}\n{\"topic\":\"a\"}", "--json") == 65)
        #expect(try code(warned) == 0)
        #expect(try code(warned, "--strict") == 65)
        #expect(try code("{\"topic\":\"a\",\"android\":{\"ttl\":\"60s\"}}", "--strict", "--expires-in", "59") == 65)
        #expect(try code("{\"topic\":\"a\",\"android\":{\"ttl\":\"60s\"}}", "--strict", "--expires-in", "60") == 0)
        #expect(LintSupport.run("/nowhere/x") == 65)
        #expect(LintSupport.run("/") == 65)
        #expect(LintSupport.run("-", "-") == 64)
        #expect(LintSupport.run("--expires-in", "0", "-") == 64)
        #expect(LintSupport.run("--nonsense") == 64)
    }
}

@Suite struct DocumentReaderTests {
    static func texts(_ text: String, piece: Int = 4096) throws -> [String] {
        try LintSupport.documents(text.utf8, piece: piece).map {
            "\($0.line) \(String(decoding: $0.bytes, as: UTF8.self))"
        }
    }

    @Test(arguments: [1, 3, 4096])
    func `one text a line, or laid out over several`(_ piece: Int) throws {
        let pretty = "{\n  \"topic\": \"}{\\\"[\",\n\n  \"data\": {\n  }\n}"
        let documents = try Self.texts("\u{FEFF}{}\r\n\n\(pretty)\n[1]\n\(pretty)", piece: piece)
        #expect(documents == ["1 {}\r", "3 \(pretty)", "9 [1]", "10 \(pretty)"])
    }

    @Test func `a line that was cut off does not take the next ones with it`() throws {
        let cut = #"{"topic":"a","#
        #expect(try Self.texts("\(cut)\n{}\n\(cut)") == ["1 \(cut)", "2 {}", "3 \(cut)"])
        #expect(try Self.texts(#"{"topic":"a"\#n{}"#) == [#"1 {"topic":"a""#, "2 {}"])
    }

    @Test func `one mistake in a text of several lines is one mistake`() throws {
        let broken = "{\n  topic: \"a\",\n  \"data\": {}\n}"
        let documents = try LintSupport.documents("\(broken)\n{}".utf8)
        #expect(documents.map(\.line) == [1, 5])
        #expect(
            LintResult(documents[0], expiresIn: nil).errors.map(\.reason)
                == ["is not acceptable JSON: line 2, column 3: a key in double quotes is expected"])
    }

    @Test func `a text that is too long is passed over`() throws {
        let long = String(repeating: "a", count: DocumentReader.limit)
        let pretty = "{\n\"a\":\"\(long.dropLast(100))\",\n\"b\":\"\(long.dropLast(100))\"\n}"
        let documents = try LintSupport.documents("\"\(long)\"\n{}\n\(pretty)\n{}".utf8)
        #expect(documents.map(\.isTooLong) == [true, false, true, false])
        #expect(documents.map(\.line) == [1, 2, 3, 7])
        #expect(LintResult(documents[0], expiresIn: nil).errors.first?.reason.hasPrefix("is longer than 1 MiB") == true)
    }
}
