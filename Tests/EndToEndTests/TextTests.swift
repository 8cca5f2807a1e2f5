import Foundation
import Postgres
import Testing

extension EndToEnd {
    /// Text that breaks naive code must reach the provider unchanged, byte for byte.
    @Suite("Hard text")
    struct TextTests {
        /// Name and text of each case; what is invisible in an editor is written as an escape.
        static let texts: [(name: String, text: String)] = [
            ("joined emoji", "👩🏽‍🍳👨‍👩‍👧‍👦🏳️‍🌈"),
            ("combining marks", "e\u{301}\u{323} a\u{30A} \u{1112}\u{1161}\u{11AB}"),
            ("composed twin", "\u{E9} \u{E5} 한"),
            ("right to left", "\u{202B}שלום, עולם\u{202C} مرحبا"),
            ("quotes and backslashes", #"" \ "" \\ \" \n \u0041 {{name}} '"#),
            ("line breaks", "one\ntwo\r\nthree\rfour\ttab"),
            ("line separators", "a\u{2028}b\u{2029}c\u{85}d"),
            ("beyond the first plane", "𠮷野家 𝄞 \u{10FFFF} 🍣"),
            ("commas and quotes", "a, \"b\", c;\"\",\""),
            ("control characters", "\u{1}\u{8}\u{B}\u{C}\u{1F}\u{7F}"),
            ("markup", "<b>&amp;</b></script>%00%s{{}}$1"),
            ("zero width", "\u{200B}\u{FEFF}\u{200E}x\u{AD}"),
            ("spaces at the ends", "  padded\u{3000}"),
        ]

        @Test("A CSV file with a BOM and CRLF line ends, quoted fields with everything in them")
        func csv() throws {
            let pipeline = try Pipeline()
            var csv = "\u{FEFF}token,name,image\r\n"
            for (index, entry) in Self.texts.enumerated() {
                let quoted = entry.text.replacing("\"", with: "\"\"")
                csv += "device-\(index),\"\(quoted)\",https://images.example.com/\(index).jpg\r\n"
            }
            let file = try pipeline.write("audience.csv", csv)
            let produced = try pipeline.producer("hard-text", audience: ["--audience", file])
            #expect(produced.exitCode == 0, "\(produced.story)")
            try expectAll(in: pipeline)
        }

        @Test("NDJSON on standard input")
        func ndjson() throws {
            let pipeline = try Pipeline()
            let lines = try Self.texts.enumerated().map { index, entry in
                let row = ["token": "device-\(index)", "name": entry.text, "image": "https://images.example.com/1.jpg"]
                return String(decoding: try JSONSerialization.data(withJSONObject: row), as: UTF8.self)
            }
            let produced = try pipeline.producer(
                "hard-text", audience: ["--audience", "-"], input: lines.joined(separator: "\n"))
            #expect(produced.exitCode == 0, "\(produced.story)")
            try expectAll(in: pipeline)
        }

        @Test("A SQL query")
        func sql() throws {
            let pipeline = try Pipeline()
            try pipeline.database.query("CREATE TABLE readers (token text, name text)")
            for (index, entry) in Self.texts.enumerated() {
                try pipeline.database.query(
                    "INSERT INTO readers VALUES ($1, $2)", [.text("device-\(index)"), .text(entry.text)])
            }
            let query = try pipeline.write(
                "audience.sql", "SELECT token, name, 'https://images.example.com/1.jpg' AS image FROM readers;\n")
            let produced = try pipeline.producer("hard-text", audience: ["--audience-sql", query])
            #expect(produced.exitCode == 0, "\(produced.story)")
            try expectAll(in: pipeline)
        }

        @Test("NUL and invalid UTF-8 are refused with their line's number, the rows around them are sent")
        func refused() throws {
            let pipeline = try Pipeline()
            var csv = Array("token,name,image\n".utf8)
            let image = Array(",https://images.example.com/1.jpg\n".utf8)
            for (token, name) in [
                ("good-1", Array("fine".utf8)),
                ("nul", [0x61, 0x00, 0x62]),
                ("good-2", Array("also\u{A0}fine".utf8)),
                ("cut", [0x61, 0xE3, 0x81]),
                ("surrogate", [0xED, 0xA0, 0x80]),
                ("overlong", [0xC0, 0xAF]),
                ("good-3", Array("still fine".utf8)),
            ] {
                csv += Array("\(token),".utf8) + name + image
            }
            let file = try pipeline.write("audience.csv", csv)
            let produced = try pipeline.producer("hard-text", audience: ["--audience", file])
            #expect(produced.exitCode == 65, "\(produced.story)")
            let refusals = try pipeline.database.query("SELECT line, reason FROM todoke.rejections ORDER BY line")
            #expect((0..<refusals.rowCount).map { refusals.int($0, 0) } == [3, 5, 6, 7])
            let sender = try pipeline.sender().end()
            #expect(sender.exitCode == 0, "\(sender.story)")
            #expect(try pipeline.arrivalsByToken() == ["good-1": 1, "good-2": 1, "good-3": 1])
        }

        /// Sends what is queued and compares what arrived, as bytes: Swift's `==` would take é for e and an accent.
        private func expectAll(in pipeline: Pipeline) throws {
            let sender = try pipeline.sender().end()
            #expect(sender.exitCode == 0, "\(sender.story)")
            let arrivals = try pipeline.arrivals()
            #expect(arrivals.count == Self.texts.count)
            for (index, entry) in Self.texts.enumerated() {
                let message = try #require(arrivals.first { $0["token"] as? String == "device-\(index)" })
                let notification = try #require(message["notification"] as? [String: Any])
                let title = try #require(notification["title"] as? String)
                #expect(Array(title.utf8) == Array("For \(entry.text)".utf8), "\(entry.name)")
            }
        }
    }
}
