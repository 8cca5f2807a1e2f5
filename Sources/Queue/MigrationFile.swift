package import Operations

/// One file of `sql/`: `0002_tables.sql` is version 2.
///
/// Its last line records it in `todoke.migrations`, with the SHA-256 of everything before that line.
package struct MigrationFile: Equatable, Sendable {
    package let version: Int
    package let name: String
    package let text: String
    /// What the digest is taken of.
    package let body: String
    /// The digest as the last line has it, 64 hexadecimal digits.
    package let digest: String

    /// Throws a ``Failure`` for a name or a last line that is not as described.
    package init(name: String, text: String) throws(Failure) {
        guard let version = Self.version(of: name) else {
            throw Failure(
                .configuration, "the migration \(name) is not named like 0001_what_it_does.sql", remedy: "rename it")
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = "INSERT INTO todoke.migrations (version, name, digest) VALUES (\(version), '\(name)', '"
        guard let last = lines.dropLast().last, lines.last?.isEmpty == true,
            last.hasPrefix(start), last.hasSuffix("');"), last.utf8.count == start.utf8.count + 67,
            last.utf8.dropFirst(start.utf8.count).prefix(64).allSatisfy({ byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            })
        else {
            throw Failure(
                .configuration, "the migration \(name) does not end by recording itself",
                remedy: "its last line must be: \(start)<SHA-256 of the lines before>');")
        }
        self.version = version
        self.name = name
        self.text = text
        body = String(text.dropLast(last.count + 1))
        digest = String(last.dropFirst(start.count).prefix(64))
    }

    /// The number in front, or nil for a file that is no migration: four digits, `_`, small letters, `.sql`.
    package static func version(of name: String) -> Int? {
        let bytes = Array(name.utf8)
        guard name.hasSuffix(".sql"), bytes.count > 9, bytes[4] == UInt8(ascii: "_"),
            bytes[..<4].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            bytes[5..<(bytes.count - 4)].allSatisfy({ byte in
                byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            })
        else { return nil }
        return Int(name.prefix(4))
    }
}
