import Foundation

/// Runs a program of the system to its end, with the `PG*` variables of the tests.
struct CommandLineTool {
    let output: String
    let error: String
    let status: Int32

    init(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        // Files, not pipes: a full pipe would stop the program.
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let paths = ["out", "err"].map { directory.appendingPathComponent($0) }
        for path in paths { try Data().write(to: path) }
        process.standardOutput = try FileHandle(forWritingTo: paths[0])
        process.standardError = try FileHandle(forWritingTo: paths[1])
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        output = try String(contentsOf: paths[0], encoding: .utf8)
        error = try String(contentsOf: paths[1], encoding: .utf8)
        status = process.terminationStatus
    }
}
