@testable import Postgres
@testable import Queue

extension FuzzTarget {
    /// Texts of the server and of libpq, of which no value and no second line may be passed on.
    static let databaseText = FuzzTarget("database-text", longest: 1024) { input in
        let text = input.text
        expect(!ErrorText.firstLine(text).isEmpty, "an error without text")
        expect(!ErrorText.firstLine(text).contains { $0.isNewline }, "a first line of two lines")
        let redacted = ErrorText.redacted(text, for: SQLState(rawValue: "22P02"))
        expect(redacted.filter { $0 == "\"" }.count <= 2, "a quoted value is left")
        if let (state, message) = ErrorText.serverError(in: text) {
            expect(state.rawValue.utf8.count == 5 && !message.contains { $0.isNewline }, "a state that is none")
        }
        let fault = ErrorText.connectionStringFault(text).replacing("\"=\"", with: "")
        expect(!fault.contains("\""), "a piece of the text is quoted")
        if let bytes = input.array.withUnsafeBytes({ HexText.decode($0) }) {
            expect(bytes.count * 2 + 2 == input.count, "bytes are lost")
        }
    }

    /// A migration's file: its name on the first line, its text below.
    static let migration = FuzzTarget("migration", longest: 2048) { input in
        let lines = input.array.lines
        let body = Array(lines.dropFirst().joined(separator: [0x0A])).text
        guard let file = try? MigrationFile(name: lines.first?.text ?? "", text: body) else { return }
        expect((0...9999).contains(file.version) && file.digest.utf8.count == 64, "a migration that is none")
        expect(body.utf8.starts(with: file.body.utf8), "the digest is taken of another text")
    }
}
