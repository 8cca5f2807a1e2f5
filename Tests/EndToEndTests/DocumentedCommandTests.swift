import Foundation
import Postgres
import TestSupport
import Testing

extension EndToEnd {
    /// What the documentation tells people to type, typed.
    @Suite("Documented commands")
    struct DocumentedCommandTests {
        /// A block of a page: what a person types, and what the page says comes out.
        struct Block {
            let line: Int
            let command: String
            var output: String?
        }

        /// What the pages take to be there.
        private static let prelude = """
            cat >hello.json <<'JSON'
            {"token": "{{token}}", "notification": {"title": "Hello, {{name}}"}}
            JSON
            DEVICE_TOKEN=my-device
            """

        @Test(
            "Every command of a page does what the page says",
            arguments: ["Templates", "Audiences", "Scheduling", "SendingSafely", "Devices"])
        func page(_ name: String) throws {
            let database = try ScratchDatabase()
            defer { try? database.drop() }
            try database.migrate()
            let connection = try database.connect()
            // The tables that queries on the pages are about.
            try connection.script(
                """
                INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo-project');
                CREATE TABLE public.devices (push_token text, user_id text, name text);
                INSERT INTO public.devices VALUES ('token-1', '1', 'Ann');
                """)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("todoke-page-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }

            let page = "\(Programs.checkout)/Sources/OperatorCore/Documentation.docc/\(name).md"
            let (blocks, files) = Self.blocks(try String(contentsOfFile: page, encoding: .utf8))
            #expect(!blocks.isEmpty)
            for (file, text) in files {
                try Data(text.utf8).write(to: folder.appendingPathComponent(file))
            }
            for block in blocks {
                let script = "set -eo pipefail\ncd '\(folder.path)'\n\(Self.prelude)\n\(block.command)\n"
                let shell = try RunningProgram(
                    path: "/bin/bash", "bash", ["-c", script], input: nil,
                    ["PATH": "\(Programs.directory):/usr/bin:/bin", "PGDATABASE": database.name])
                let ended = try shell.end()
                #expect(ended.exitCode == 0, "\(name).md line \(block.line): \(ended.story)")
                guard let expected = block.output else { continue }
                let printed = Self.lines(ended.output + ended.errors)
                #expect(printed == Self.lines(expected), "\(name).md line \(block.line)")
            }
        }

        /// The blocks of shell, each with the text that follows it; and files by the name that the page gives them.
        static func blocks(_ page: String) -> ([Block], [(String, String)]) {
            var blocks: [Block] = []
            var files: [(String, String)] = []
            var language: Substring?
            var text = ""
            var start = 0
            for (index, line) in page.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                guard line.hasPrefix("```") else {
                    text += line + "\n"
                    continue
                }
                if language == nil {
                    // Prose in between: what follows is no longer the output of what came before.
                    language = line.dropFirst(3)
                    start = index + 1
                    if language == "text", text.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty, !blocks.isEmpty
                    {
                        blocks[blocks.count - 1].output = ""
                    }
                } else {
                    switch language {
                    case "sh": blocks.append(Block(line: start, command: text))
                    case "text" where blocks.last?.output == "": blocks[blocks.count - 1].output = text
                    case "sql": files.append(("audience.sql", text))
                    default: break
                    }
                    language = nil
                }
                text = ""
            }
            return (blocks, files)
        }

        /// In any order, since standard output and errors are two streams, and with every duration the same.
        private static func lines(_ text: String) -> [String] {
            text.replacing(/\ in \d+\.\d s/, with: " in 0.0 s").split(separator: "\n").map(String.init).sorted()
        }
    }
}
