import Foundation
import Glibc

/// Reads one end of a pipe on a thread of its own, so that the program at the other end never has to wait.
///
/// `@unchecked Sendable`: every stored variable is touched only with `condition` locked.
final class OutputCollector: @unchecked Sendable {
    private let condition = NSCondition()
    private var bytes: [UInt8] = []
    private var hasEnded = false
    private var reaped = false

    init(_ descriptor: Int32) {
        let thread = Thread { [self] in
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                condition.lock()
                if count > 0 { bytes += buffer[..<count] } else { hasEnded = true }
                condition.broadcast()
                condition.unlock()
                if count <= 0 { break }
            }
            close(descriptor)
        }
        thread.start()
    }

    var text: String { condition.withLock { String(decoding: bytes, as: UTF8.self) } }
    var isAtEnd: Bool { condition.withLock { hasEnded } }
    var isReaped: Bool { condition.withLock { reaped } }
    func markReaped() { condition.withLock { reaped = true } }

    func waitForEnd(by deadline: Date) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while !hasEnded {
            if !condition.wait(until: deadline) { return hasEnded }
        }
        return true
    }

    func line(with part: String, by deadline: Date, of name: String) throws -> String {
        condition.lock()
        defer { condition.unlock() }
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let line = text.split(separator: "\n").first(where: { $0.contains(part) }) { return String(line) }
            if hasEnded || !condition.wait(until: deadline) {
                throw Late(description: "\(name) never said \"\(part)\", but: \(text.suffix(4000))")
            }
        }
    }
}
