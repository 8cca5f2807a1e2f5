import Foundation
import Testing

@testable import Operations

@Suite struct BufferedOutputTests {
    private static func write(_ lines: [String], to path: String) throws {
        let handle = try #require(FileHandle(forWritingAtPath: path))
        defer { try? handle.close() }
        let output = BufferedOutput(StandardStream(descriptor: handle.fileDescriptor))
        for line in lines { output.writeLine(line) }
        try output.finish()
    }

    @Test func `lines arrive in order, however many`() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "todoke-output-\(UUID().uuidString)")
        try Data().write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let lines = (0..<20_000).map { "line \($0)" }
        try Self.write(lines, to: url.path)
        #expect(try String(contentsOf: url, encoding: .utf8) == lines.joined(separator: "\n") + "\n")
    }

    #if os(Linux)
        @Test func `what cannot be written is an error`() throws {
            let failure = #expect(throws: Failure.self) { try Self.write(["a"], to: "/dev/full") }
            #expect(failure?.exit == .configuration)
            #expect(failure?.what == "cannot write the output: No space left on device")
            try Self.write([], to: "/dev/full")
        }
    #endif
}
