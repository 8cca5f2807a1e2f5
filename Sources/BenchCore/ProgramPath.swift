import FoundationEssentials

/// Where this program is, to find those that belong to it.
enum ProgramPath {
    /// The directory of the running program; `program` is its path as it was called, for systems without `/proc`.
    static func directory(_ program: String) -> String {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? program
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
