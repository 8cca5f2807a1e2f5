import FoundationEssentials
import Glibc
import Operations

/// A directory for keys, logs and what a sink serves; removed with this object.
final class ScratchDirectory {
    let path: String

    init() throws(Failure) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/todoke-bench.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(
                .configuration, "no directory can be made in \(parent): \(String(cString: strerror(errno)))",
                remedy: "make room, or set TMPDIR")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Makes a directory in it, with those above it.
    func makeDirectory(_ name: String) throws(Failure) {
        do {
            try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        } catch {
            throw Failure(.configuration, "\(path)/\(name) cannot be made", remedy: "make room, or set TMPDIR")
        }
    }
}
