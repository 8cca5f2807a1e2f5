import Glibc
import Testing

/// A program that a test starts; ended with the object at the latest.
final class ChildProcess {
    let pid: pid_t
    private var isReaped = false

    init(_ program: String, _ arguments: [String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // Other tests' sockets and pipes would live as long as this child.
        for descriptor: Int32 in 3..<1_024 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        // The threads that tests run on have signals blocked, and a child inherits the mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, program, &actions, &attributes, words, environ)
        pid = child
        if code != 0 { isReaped = true }
        try #require(code == 0, "\(program) does not start: \(String(cString: strerror(code)))")
    }

    deinit {
        signal(SIGKILL)
        wait()
    }

    func signal(_ number: Int32) {
        if !isReaped { kill(pid, number) }
    }

    /// Waits for the end; the exit status, or -1 where a signal ended it.
    @discardableResult func wait() -> Int32 {
        guard !isReaped else { return -1 }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        isReaped = true
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -1
    }

    /// Waits until all of the program's threads are stopped by SIGSTOP.
    func waitUntilStopped() {
        var status: Int32 = 0
        while waitpid(pid, &status, WUNTRACED) < 0, errno == EINTR {}
    }

    /// False once it has ended.
    func isRunning() -> Bool {
        guard !isReaped else { return false }
        var status: Int32 = 0
        isReaped = waitpid(pid, &status, WNOHANG) == pid
        return !isReaped
    }
}
