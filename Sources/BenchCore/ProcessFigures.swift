import Glibc

/// What `/proc` says about a process on this machine.
enum ProcessFigures {
    /// Microseconds of processor time, and those of the children that it has waited for; nil when there is no such process.
    static func cpu(_ pid: Int) -> (own: Int, children: Int)? {
        let text = TextFile.read("/proc/\(pid)/stat")
        // The name in parentheses may hold anything, so count from the last one: state is the first field after it.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 14 else { return nil }
        let ticks = (11...14).compactMap { Int(fields[$0]) }
        guard ticks.count == 4 else { return nil }
        let tick = 1_000_000 / max(1, sysconf(Int32(_SC_CLK_TCK)))
        return ((ticks[0] + ticks[1]) * tick, (ticks[2] + ticks[3]) * tick)
    }

    /// The program's short name.
    static func name(_ pid: Int) -> String? {
        TextFile.read("/proc/\(pid)/comm").split(separator: "\n").first.map(String.init)
    }

    /// The parent's id.
    static func parent(_ pid: Int) -> Int? {
        field("PPid", of: pid)
    }

    /// KiB resident now, and at most so far; nil when there is no such process.
    static func memory(_ pid: Int) -> (resident: Int, peak: Int)? {
        guard let resident = field("VmRSS", of: pid), let peak = field("VmHWM", of: pid) else { return nil }
        return (resident, peak)
    }

    private static func field(_ name: String, of pid: Int) -> Int? {
        for line in TextFile.read("/proc/\(pid)/status").split(separator: "\n") where line.hasPrefix("\(name):") {
            let words = line.split { $0 == " " || $0 == "\t" }
            return words.count > 1 ? Int(words[1]) : nil
        }
        return nil
    }

    /// Microseconds of processor time that this process has had.
    static func ownCPU() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    }
}
