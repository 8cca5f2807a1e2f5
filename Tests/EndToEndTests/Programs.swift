import Foundation

/// Where the built programs are: `TODOKE_BIN`, or the directory that the test bundle was built into.
enum Programs {
    static let directory: String =
        ProcessInfo.processInfo.environment["TODOKE_BIN"]
        ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path

    /// The top of the checkout, for `sql/` and `deploy/example/`.
    static let checkout = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    static func path(_ name: String) throws -> String {
        let path = "\(directory)/\(name)"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Late(description: "there is no program \(path): swift build, or set TODOKE_BIN")
        }
        return path
    }
}
