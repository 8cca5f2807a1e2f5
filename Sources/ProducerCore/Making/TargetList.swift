import Operations
import Queue
import Rows
import Signing

/// Targets of which only digests are kept: 16 bytes each.
struct TargetList {
    private var keys: Set<DedupeKey> = []
    private let hasher: SHA256Hasher

    /// More are no list for trying things out.
    private static let most = 1_000_000

    /// Reads a file with one target a line; empty lines are skipped.
    init(_ path: String, option: String) throws(Failure) {
        hasher = try .forKeys()
        let file = try InputFile(path, option: option)
        var lines = LineReader(file.bytes(), limit: RowLimits.row)
        while try lines.next() {
            guard !lines.isBlank else { continue }
            guard !lines.isTooLong, textFault(lines.bytes) == nil else {
                throw Failure(
                    .data, "\(file.name) line \(lines.number): no target", remedy: "write one target a line, in UTF-8")
            }
            guard keys.count < Self.most else {
                throw Failure(
                    .data, "\(file.name) has more than \(Self.most) targets",
                    remedy: "give targets that many to --audience instead")
            }
            let line = lines.bytes.trimmingPrefix { $0 <= 0x20 }
            keys.insert(try hasher.key(line.prefix(line.lastIndex { $0 > 0x20 }.map { $0 + 1 - line.startIndex } ?? 0)))
        }
    }

    func contains(_ target: String) throws(Failure) -> Bool { keys.contains(try hasher.key(target.utf8)) }
}

extension SHA256Hasher {
    /// A hasher, or why there is none.
    static func forKeys() throws(Failure) -> SHA256Hasher {
        do { return try SHA256Hasher() } catch {
            throw Failure(.software, "SHA-256 is not available", remedy: "check the installation of libcrypto")
        }
    }

    /// The key of these bytes.
    func key(_ bytes: some Sequence<UInt8>) throws(Failure) -> DedupeKey {
        var digest: [UInt8] = []
        do { try self.digest(Array(bytes).span, into: &digest) } catch {
            throw Failure(.software, "SHA-256 failed", remedy: "run it again")
        }
        return DedupeKey(digest: digest)
    }
}
