import Foundation
import Glibc

/// One of the built programs, running for real: its own process, its output collected as it comes.
///
/// Killed when the last reference goes, so that no test leaves a process behind.
final class RunningProgram: Sendable {
    let name: String
    let processID: pid_t
    private let output: OutputCollector
    private let errors: OutputCollector

    /// Starts `name` from ``Programs``, with the test's own environment changed by `environment`.
    convenience init(
        _ name: String, _ arguments: [String], input: String? = nil, environment: [String: String] = [:]
    ) throws {
        try self.init(path: Programs.path(name), name, arguments, input: input.map { Array($0.utf8) }, environment)
    }

    init(path: String, _ name: String, _ arguments: [String], input: [UInt8]?, _ changes: [String: String]) throws {
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TODOKE_") }
        environment.merge(changes) { $1 }
        // A file instead of a pipe: no thread has to feed it, and its end is its end.
        let inputFile = FileManager.default.temporaryDirectory.appendingPathComponent("todoke-\(UUID()).in")
        if let input { try Data(input).write(to: inputFile) }
        defer { try? FileManager.default.removeItem(at: inputFile) }

        let outputPipe = try Pipe.closedOnExec()
        let errorPipe = try Pipe.closedOnExec()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input == nil ? "/dev/null" : inputFile.path, O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, outputPipe.writing, 1)
        posix_spawn_file_actions_adddup2(&actions, errorPipe.writing, 2)

        var process = pid_t()
        let fault = withCStrings([path] + arguments) { argv in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { envp in
                posix_spawn(&process, path, &actions, nil, argv, envp)
            }
        }
        close(outputPipe.writing)
        close(errorPipe.writing)
        self.name = name
        processID = process
        output = OutputCollector(outputPipe.reading)
        errors = OutputCollector(errorPipe.reading)
        guard fault == 0 else { throw Late(description: "\(path) did not start: \(String(cString: strerror(fault)))") }
    }

    deinit {
        // Only while it has not been waited for is the number still this process's.
        if !output.isReaped {
            kill(processID, SIGKILL)
            var status: Int32 = 0
            waitpid(processID, &status, 0)
        }
    }

    func send(_ signal: Int32) { kill(processID, signal) }

    /// Whether it has closed its output, as it does at its end.
    var hasEnded: Bool { output.isAtEnd }

    /// What it has written to standard error so far.
    var errorText: String { errors.text }

    /// Waits until a line of standard output has `part` in it, and returns that line.
    func outputLine(with part: String, within limit: TimeInterval = patience) throws -> String {
        try output.line(with: part, by: Date(timeIntervalSinceNow: limit), of: name)
    }

    /// Waits until a line of standard error has `part` in it, and returns that line.
    func line(with part: String, within limit: TimeInterval = patience) throws -> String {
        try errors.line(with: part, by: Date(timeIntervalSinceNow: limit), of: name)
    }

    /// Waits until it has ended by itself; past the limit it is killed and the test fails.
    @discardableResult
    func end(within limit: TimeInterval = patience) throws -> EndedProgram {
        let deadline = Date(timeIntervalSinceNow: limit)
        guard output.waitForEnd(by: deadline), errors.waitForEnd(by: deadline) else {
            kill(processID, SIGKILL)
            throw Late(description: "\(name) did not end within \(limit) s; it said: \(errors.text.suffix(4000))")
        }
        var status: Int32 = 0
        // Both pipes are closed: the process is gone or on its way.
        while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
        output.markReaped()
        // The macros WIFSIGNALED, WTERMSIG and WEXITSTATUS.
        let signal = status & 0x7F
        return EndedProgram(
            name: name, exitCode: signal == 0 ? (status >> 8) & 0xFF : nil, signal: signal == 0 ? nil : signal,
            output: output.text, errors: errors.text)
    }
}

/// How a program ended and all it said.
struct EndedProgram {
    let name: String
    /// Nil when a signal ended it.
    let exitCode: Int32?
    let signal: Int32?
    let output: String
    let errors: String

    /// Lines of standard error that are neither log nor empty: what a person is told.
    var messages: [String] {
        errors.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("time=") }
    }

    /// Everything a failing test should show.
    var story: String {
        "\(name) ended with \(exitCode.map { "exit code \($0)" } ?? "signal \(signal ?? 0)")\n"
            + "stdout: \(output.suffix(2000))\nstderr: \(errors.suffix(4000))"
    }
}

private struct Pipe {
    let reading: Int32
    let writing: Int32

    /// No other program started meanwhile may inherit an end, or the end of output would never be seen: that is why it
    /// is a pair of sockets, for which closing on exec can be asked in the same call.
    static func closedOnExec() throws -> Pipe {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Late(description: "no pipe: errno \(errno)") }
        return Pipe(reading: ends[0], writing: ends[1])
    }
}

private func withCStrings<R>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
    let copies = strings.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies + [nil])
}
