import FoundationEssentials

@testable import Delivery

extension FuzzTarget {
    /// The scanner, the parser and the writer, against each other and against Foundation's reader.
    static let json = FuzzTarget("json") { input in
        let scanned = scan(input)
        do throws(JSONError) {
            let value = try JSONValue.parse(input)
            expect(scanned == nil, "the parser takes what the scanner refuses: \(String(describing: scanned))")
            var compact: [UInt8] = []
            value.write(into: &compact)
            let again = try? JSONValue.parse(compact.span)
            expect(again == value, "written and read again it is another value")
            var scanner = JSONScanner()
            try? scanner.skipValue(input)
            expect(scanner.compactLength == compact.count, "the compact length is not that of the compact text")
            expect(foundationReads(input.array), "Foundation refuses what the parser takes")
        } catch {
            expect(scanned == error, "parser and scanner give different reasons")
            expect(error.offset <= input.count && error.line >= 1 && error.column >= 1, "a place outside of the text")
            // Foundation takes a comma after the last element, which RFC 8259 does not know.
            let place = error.offset < input.count ? input[error.offset] : 0
            let isLastComma = place == UInt8(ascii: "]") || place == UInt8(ascii: "}")
            // Of a key that is there twice it looks at one value only, and at no scalar that nobody asks for.
            let isInScalar = [.badNumber, .badEscape, .controlCharacter, .invalidUTF8].contains(error.problem)
            let isUnseen = isInScalar && input.array.contains(UInt8(ascii: "{"))
            if !isStricter(error.problem), !isLastComma, !isUnseen, isPlainText(input) {
                expect(!foundationReads(input.array), "the parser refuses what Foundation takes: \(error)")
            }
        }
    }

    private static func scan(_ input: Span<UInt8>) -> JSONError? {
        do throws(JSONError) {
            var scanner = JSONScanner()
            try scanner.skipValue(input)
            try scanner.finish(input)
            return nil
        } catch { return error }
    }

    /// What is refused here on purpose and allowed by RFC 8259.
    private static func isStricter(_ problem: JSONError.Problem) -> Bool {
        [.duplicateKey, .nul, .loneSurrogate, .tooDeep].contains(problem)
    }

    /// Foundation also reads UTF-16, UTF-32 and byte order marks, which it tells by these bytes.
    private static func isPlainText(_ input: Span<UInt8>) -> Bool {
        let bytes = input.array
        return !bytes.contains(0) && !(bytes.first.map { $0 >= 0xEF } ?? true)
    }

    private static func foundationReads(_ bytes: [UInt8]) -> Bool {
        (try? JSONDecoder().decode(Anything.self, from: Data(bytes))) != nil
    }
}

/// Reads every value there is, since Foundation looks at strings and numbers only when they are asked for.
private struct Anything: Decodable {
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Key.self) {
            for key in object.allKeys { _ = try object.decode(Anything.self, forKey: key) }
        } else if var list = try? decoder.unkeyedContainer() {
            while !list.isAtEnd { _ = try list.decode(Anything.self) }
        } else {
            let single = try decoder.singleValueContainer()
            if single.decodeNil() || (try? single.decode(Bool.self)) != nil { return }
            do { _ = try single.decode(Double.self) } catch {
                // A number that no Double holds is one all the same; Foundation's error for it is its own.
                if !"\(error)".contains("RepresentableInSwift") { _ = try single.decode(String.self) }
            }
        }
    }
}
