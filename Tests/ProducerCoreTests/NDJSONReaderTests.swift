import Operations
import Rows
import Testing

@testable import ProducerCore

@Suite("NDJSON audiences")
struct NDJSONReaderTests {
    private func read(_ text: String, _ columns: [String] = ["a", "user.name"]) throws -> [String] {
        try rows(NDJSONReader(pieces(Array(text.utf8), of: 1 << 16), columns: columns))
    }

    @Test(
        "Fields are found by name and path, whatever else the line holds",
        arguments: [
            (#"{"a":"x","user":{"name":"n","other":[1,{"name":2}]}}"#, "1: x|n"),
            (#"{"user":{"deep":{"name":"no"},"name":"n"},"z":{"a":"no"},"a":1.50}"#, "1: 1.50|n"),
            (#"{"a":true,"user.name":"flat"}"#, "1: true|flat"), (#"{"a":null,"user":{"name":false}}"#, "1: |false"),
            (#"{"a":"x"}"#, "1: x|∅"), (#"{}"#, "1: ∅|∅"), (#"{"a":"","user":null}"#, "1: |"),
            (#"{"\u0061":"\ud83d\ude00\n\"\\","user":{"n\u0061me":"é"}}"#, "1: 😀\n\"\\|é"),
            (#" {"a" : -1e5 , "user" : { "name" : "x" } } "#, "1: -1e5|x"), ("\u{FEFF}{\"a\":\"x\"}", "1: x|∅"),
        ])
    func fields(_ line: String, _ expected: String) throws {
        #expect(try read(line) == [expected])
    }

    @Test(
        "A line that cannot be used is refused, the next is read",
        arguments: [
            ("{\"a\":\"\\u0000\"}", "contains NUL"), ("{\"a\":\"\u{0}\"}", "contains NUL"),
            ("[1]", "not a JSON object"),
            ("{\"a\":\"\\ud800\"}", "surrogate"), ("{\"a\":[1]}", "a list"),
            ("{\"a\":{}}", "is there twice or an object"),
            ("{\"a\":1,\"a\":2}", "twice"), ("{\"user.name\":1,\"user\":{\"name\":2}}", "twice"),
            ("{\"a\":\"x\"", "ends inside"),
            ("{\"a\":\"x\"} x", "follows"), ("a,b", "not usable JSON"),
        ])
    func refused(_ line: String, _ reason: String) throws {
        let found = try read("\n" + line + "\n\n{\"a\":\"ok\",\"user\":{\"name\":\"n\"}}\n")
        #expect(found.count == 2)
        #expect(found.first?.hasPrefix("2! ") == true)
        #expect(found.first?.contains(reason == "is there twice or an object" ? "is an object" : reason) == true)
        #expect(found.last == "4: ok|n")
    }

    @Test("A line of more than a MiB is refused, the next is read", arguments: [1, 3 << 20])
    func long(_ extra: Int) throws {
        let long = "{\"a\":\"" + String(repeating: "x", count: (1 << 20) + extra) + "\"}"
        #expect(
            try read("{\"a\":\"1\"}\n\(long)\n{\"a\":\"3\"}\n") == ["1: 1|∅", "2! longer than 1 MiB", "3: 3|∅"])
    }

    @Test("Invalid UTF-8 is refused with its line")
    func invalidUTF8() throws {
        let text: [UInt8] = Array("{\"a\":\"".utf8) + [0xC3, 0x28] + Array("\"}\n{\"a\":\"ok\"}".utf8)
        let found = try rows(NDJSONReader(pieces(text, of: 10), columns: ["a"]))
        #expect(found.first?.hasPrefix("1! ") == true)
        #expect(found.first?.contains("UTF-8") == true)
        #expect(found.last == "2: ok")
    }

    @Test("The pieces in which the input arrives make no difference")
    func everySplit() throws {
        let text = Array(
            "\u{FEFF}{\"a\":\"é👩‍🍳\",\"user\":{\"name\":\"\\n\"}}\r\n\n{\"a\":1}\nbroken\n{\"a\":null,\"user\":{\"name\":\"x\"}}"
                .utf8)
        let columns = ["a", "user.name"]
        let expected = try rows(NDJSONReader(pieces(text, of: text.count), columns: columns))
        #expect(expected.count == 4)
        for index in 0...text.count {
            #expect(
                try rows(NDJSONReader(pieces(text, splitAt: index), columns: columns)) == expected, "split at \(index)")
        }
        for size in 1...7 {
            #expect(try rows(NDJSONReader(pieces(text, of: size), columns: columns)) == expected, "pieces of \(size)")
        }
    }
}
