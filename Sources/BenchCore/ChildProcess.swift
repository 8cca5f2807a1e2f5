import Glibc
import Operations

/// A program that was started here; ended with this object at the latest.
final class ChildProcess {
    /// How it ended, and what it cost.
    struct Ending {
        /// 128 + the signal's number where a signal ended it, as shells have it.
        let code: Int
        /// Of user and system together, its own ended children included.
        let cpuMicroseconds: Int
    }

    let name: String
    let pid: pid_t
    /// What it wrote.
    let log: String
    private(set) var ending: Ending?

    /// - Parameters:
    ///   - program: a path, or a name to be found in `PATH`.
    ///   - remedy: what a person does when there is no such program.
    ///   - log: a file for its standard output and error.
    ///   - adding: variables of its environment beside those of this program.
    init(
        _ program: String, _ arguments: [String], log: String, remedy: String, adding variables: [String: String] = [:]
    ) throws(Failure) {
        name = program.split(separator: "/").last.map(String.init) ?? program
        self.log = log
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var usual = sigset_t()
        sigemptyset(&usual)
        sigaddset(&usual, SIGPIPE)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        // A group of its own: Ctrl-C is for this program, which then ends the others in order.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var vector = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for text in vector { free(text) } }
        var environment = Self.environment(adding: variables).map { strdup($0) } + [nil]
        defer { for text in environment { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, program, &actions, &attributes, &vector, &environment)
        guard code == 0 else {
            throw Failure(
                .unavailable, "\(name) does not start: \(String(cString: strerror(code)))", remedy: remedy)
        }
        self.pid = pid
    }

    deinit { stop() }

    /// Looks whether it has ended.
    func poll() -> Ending? {
        if let ending { return ending }
        var status: Int32 = 0
        var usage = rusage()
        guard wait4(pid, &status, WNOHANG, &usage) == pid else { return nil }
        let signal = status & 0x7F
        let code = signal == 0 ? Int(status >> 8) & 0xFF : 128 + Int(signal)
        ending = Ending(code: code, cpuMicroseconds: Self.microseconds(usage))
        return ending
    }

    /// Asks it to end in order.
    func terminate() { if ending == nil { kill(pid, SIGTERM) } }

    /// Ends it: asks, and insists after five seconds.
    func stop() {
        terminate()
        var turns = 0
        while poll() == nil {
            if turns == 500 { kill(pid, SIGKILL) }
            turns += 1
            usleep(10_000)
        }
    }

    /// Throws with the end of what it wrote when it has ended.
    func checkRunning() throws(Failure) {
        guard let ending = poll() else { return }
        throw failure("\(name) ended with code \(ending.code)")
    }

    /// `what` with the last line that the program wrote.
    func failure(_ what: String) -> Failure {
        let last = TextFile.read(log).split(separator: "\n").last.map(String.init) ?? "nothing"
        return Failure(.unavailable, what, remedy: "its last word was: \(last)")
    }

    /// Without proxies: everything here is on this machine.
    private static func environment(adding variables: [String: String]) -> [String] {
        var all = ProcessEnvironment.current
        for name in all.keys where name.lowercased().hasSuffix("_proxy") { all[name] = nil }
        return all.merging(variables) { $1 }.map { "\($0.key)=\($0.value)" }
    }

    private static func microseconds(_ usage: rusage) -> Int {
        (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000 + Int(usage.ru_utime.tv_usec)
            + Int(usage.ru_stime.tv_usec)
    }
}
