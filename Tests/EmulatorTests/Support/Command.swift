import Foundation

/// Another program, run to its end.
enum Command {
    struct Outcome {
        let exitCode: Int32
        let output: String
        let errors: String
    }

    static func run(_ path: String, _ arguments: [String]) throws -> Outcome {
        let directory = FileManager.default.temporaryDirectory
        // Errors go to a file, since two pipes could fill up in the wrong order.
        let errorFile = directory.appending(path: "todoke-stderr-\(UUID().uuidString)")
        try Data().write(to: errorFile)
        defer { try? FileManager.default.removeItem(at: errorFile) }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errorFile)
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(
            exitCode: process.terminationStatus, output: String(decoding: data, as: UTF8.self),
            errors: try String(contentsOf: errorFile, encoding: .utf8))
    }
}
