import Foundation
import Testing

@testable import Delivery

@Suite struct JSONTests {
    static let accepted: [String] = [
        "null", " true\n", "\tfalse\r\n", "0", "-0", "-0.0", "10", "1.5", "1e3", "1E+3", "1.25e-30", "1e999",
        #""""#, #""a""#, "\"\u{7F}\u{80}\u{2028}\u{FFFF}\u{10FFFF}\"", #""\"\\\/\b\f\n\r\t""#, #""\u0001\uD83D\ude00""#,
        "[]", "[ ]", "[1,[2,[3]]]", "{}", "{ }", #"{"a":1,"b":{"a":1}}"#, #"{"":1," ":2}"#,
        #"[{"a":1},{"a":1}]"#, "\"日本語 👩‍👩‍👧\"",
    ]

    static let refused: [(String, JSONError.Problem)] = [
        ("", .emptyInput), (" ", .endOfInput), ("nul", .expectedValue), ("nulll", .trailingBytes),
        ("True", .expectedValue), ("NaN", .expectedValue), ("+1", .expectedValue), (".5", .expectedValue),
        ("01", .badNumber), ("-", .badNumber), ("1.", .badNumber), ("1e", .badNumber), ("1e+", .badNumber),
        ("-01", .badNumber), ("1 2", .trailingBytes), ("[1,]", .expectedValue), ("[,1]", .expectedValue),
        ("[1 2]", .expectedCommaOrBracket), ("[1", .endOfInput), ("{", .endOfInput), (#"{"a"}"#, .expectedColon),
        (#"{"a":}"#, .expectedValue), (#"{"a":1,}"#, .expectedKey), (#"{"a":1 "b":2}"#, .expectedCommaOrBrace),
        ("{a:1}", .expectedKey), ("{'a':1}", .expectedKey), (#"{"a":1}}"#, .trailingBytes), (#"""#, .endOfInput),
        (#""\"#, .endOfInput), (#""\x""#, .badEscape), (#""\u12""#, .badEscape), (#""\u12g4""#, .badEscape),
        ("\"\u{1}\"", .controlCharacter), ("\"a\nb\"", .controlCharacter), ("\"a\0b\"", .nul), (#""\u0000""#, .nul),
        ("\0", .nul), (#""\uD800""#, .loneSurrogate), (#""\uD800x""#, .loneSurrogate),
        (#""\uD800\n""#, .loneSurrogate), (#""\uD800\uD800""#, .loneSurrogate), (#""\uDC00\uD800""#, .loneSurrogate),
        (#""\uD83D\u0041""#, .loneSurrogate), (#"{"a":1,"a":2}"#, .duplicateKey),
        (#"{"a":1,"\u0061":2}"#, .duplicateKey),
        (#"[{"x":{"b":1,"b":1}}]"#, .duplicateKey), (#"{"":1,"":1}"#, .duplicateKey), ("\u{FEFF}{}", .expectedValue),
        ("// x\n1", .expectedValue), ("1 // x", .trailingBytes),
    ]

    @Test(arguments: accepted)
    func `JSON of RFC 8259 is read`(_ text: String) throws {
        let value = try JSONValue.parse(Array(text.utf8).span)
        // What is written again is the same value, to this reader and to Foundation's.
        #expect(try JSONValue.parse(value.bytes.span) == value)
        guard !text.contains("e999") else { return }
        let ours = try JSONSerialization.jsonObject(with: Data(value.bytes), options: .fragmentsAllowed)
        let theirs = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        #expect((ours as? NSObject) == (theirs as? NSObject))
    }

    @Test(arguments: refused)
    func `anything else is refused with its reason`(_ text: String, _ problem: JSONError.Problem) {
        #expect { try JSONValue.parse(Array(text.utf8).span) } throws: { ($0 as? JSONError)?.problem == problem }
    }

    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xE3, 0x81], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
            [0xF0, 0x9F, 0x98], [0xE3, 0x41, 0x81],
        ] as [[UInt8]])
    func `invalid UTF-8 is refused wherever it stands`(_ bytes: [UInt8]) {
        for padding in 0..<10 {
            let text = [0x22] + [UInt8](repeating: 0x61, count: padding) + bytes + [0x62, 0x22]
            #expect { try JSONValue.parse(text.span) } throws: { ($0 as? JSONError)?.problem == .invalidUTF8 }
        }
    }

    @Test func `a special byte is noticed at every place of a long string`() throws {
        for position in 0..<40 {
            for (byte, problem) in [(0x00, JSONError.Problem.nul), (0x1F, .controlCharacter), (0xFF, .invalidUTF8)] {
                var text = [UInt8](repeating: 0x20, count: 42)
                text[0] = 0x22
                text[41] = 0x22
                text[position + 1] = UInt8(byte)
                #expect { try JSONValue.parse(text.span) } throws: {
                    ($0 as? JSONError)?.problem == problem && ($0 as? JSONError)?.offset == position + 1
                }
            }
        }
    }

    @Test func `the place of an error is given in lines and characters`() {
        let text = "{\n  \"é\": \"日本\",\n  \"日\": x\n}"
        #expect { try JSONValue.parse(Array(text.utf8).span) } throws: { error in
            guard let error = error as? JSONError else { return false }
            return error.line == 3 && error.column == 8 && error.description == "line 3, column 8: a value is expected"
        }
    }

    @Test func `nesting ends at 100 levels`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(ascii: "["), count: depth) + [UInt8](repeating: UInt8(ascii: "]"), count: depth)
        }
        #expect(throws: Never.self) { try JSONValue.parse(nested(100).span) }
        #expect { try JSONValue.parse(nested(101).span) } throws: { ($0 as? JSONError)?.problem == .tooDeep }
        #expect { try JSONValue.parse(nested(1_000_000).span) } throws: { ($0 as? JSONError)?.problem == .tooDeep }
    }

    @Test(arguments: [2, 16, 17, 18, 40, 1000])
    func `a repeated key is found among any number of keys`(_ count: Int) throws {
        var keys = (0..<count).map { "\"key\($0)\":0" }
        #expect(throws: Never.self) { try JSONValue.parse(Array("{\(keys.joined(separator: ","))}".utf8).span) }
        for repeated in [0, (count - 1) / 2, count - 2] {
            keys[count - 1] = "\"k\\u0065y\(repeated)\":1"
            let text = "{\(keys.joined(separator: ","))}"
            #expect { try JSONValue.parse(Array(text.utf8).span) } throws: {
                ($0 as? JSONError)?.problem == .duplicateKey
            }
        }
    }

    @Test func `text is escaped as little as possible`() {
        var output: [UInt8] = []
        appendJSONString("\"\\/\u{8}\u{C}\n\r\t\u{1}\u{1F}\u{7F}é\u{2028}\u{2029}👩‍👩‍👧", into: &output)
        #expect(
            String(decoding: output, as: UTF8.self)
                == #""\"\\/\b\f\n\r\t\u0001\u001f"# + "\u{7F}é\u{2028}\u{2029}👩‍👩‍👧\"")
    }

    @Test func `a member is found, replaced, added and removed by its bytes`() throws {
        var value = try JSONValue.parse(Array("{\"e\u{301}\":1,\"b\":[true,null]}".utf8).span)
        #expect(value["\u{E9}"] == nil)
        #expect(value["e\u{301}"] == .number("1"))
        value["b"] = .string("x")
        value["c"] = .object([])
        value["e\u{301}"] = nil
        #expect(String(decoding: value.bytes, as: UTF8.self) == #"{"b":"x","c":{}}"#)
        var text = JSONValue.string("a")
        text["b"] = .null
        #expect(text == .string("a"))
    }

    @Test func `what this reader accepts, Foundation's accepts too`() throws {
        var generator = SplitMix64(seed: 7)
        let seeds = try VectorFile.read("open-fcm-payload").map { Array($0.bytes.prefix(400)) } + [Array("{}".utf8)]
        var accepted = 0
        for round in 0..<2000 {
            var bytes = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 0...2, using: &generator) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = Bool.random(using: &generator) ? .random(in: 0...255, using: &generator) : 0x22
            }
            guard let value = try? JSONValue.parse(bytes.span) else { continue }
            accepted += 1
            #expect(try JSONValue.parse(value.bytes.span) == value)
            #expect(throws: Never.self) {
                try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            }
        }
        #expect(accepted > 100)
    }
}
