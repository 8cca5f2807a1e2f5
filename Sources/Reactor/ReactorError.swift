import Glibc

/// A system call of the reactor that failed.
package struct ReactorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Name of the call: `epoll_ctl`.
    package let call: String
    /// Its `errno`.
    package let code: Int32

    init(_ call: String) {
        code = errno
        self.call = call
    }

    package var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { text in
            guard let start = text.baseAddress else { return call }
            start.initialize(to: 0)
            guard strerror_r(code, start, text.count) == 0 else { return "\(call): error \(code)" }
            return "\(call): \(String(cString: start))"
        }
    }
}
