#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the system says of this process, read when it is asked for; what it does not say is left out.
package struct ProcessStatistics: Sendable {
    package private(set) var startSeconds: Double?
    package private(set) var cpuSeconds: Double?
    package private(set) var residentBytes: Int?
    package private(set) var virtualBytes: Int?
    package private(set) var openFiles: Int?
    package private(set) var maximumFiles: Int?

    /// The process now, from `/proc` and `getrusage`.
    package static var current: ProcessStatistics {
        var statistics = ProcessStatistics()
        var usage = rusage()
        var limit = rlimit()
        #if canImport(Glibc)
            // The header's enumerations are not what its own functions take.
            let hasUsage = getrusage(Int32(RUSAGE_SELF.rawValue), &usage) == 0
            let hasLimit = getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0
        #else
            let hasUsage = getrusage(RUSAGE_SELF, &usage) == 0
            let hasLimit = getrlimit(RLIMIT_NOFILE, &limit) == 0
        #endif
        if hasUsage { statistics.cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime) }
        if hasLimit { statistics.maximumFiles = Int(clamping: limit.rlim_cur) }
        if let pages = text("/proc/self/statm")?.split(separator: " ").compactMap({ Int($0) }), pages.count > 1 {
            let pageBytes = sysconf(Int32(_SC_PAGESIZE))
            statistics.virtualBytes = pages[0] * pageBytes
            statistics.residentBytes = pages[1] * pageBytes
        }
        statistics.openFiles = openFileCount()
        statistics.startSeconds = startTime()
        return statistics
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }

    /// Unix seconds: the boot's, and ticks since then.
    private static func startTime() -> Double? {
        // The second field is a name in parentheses, which may hold anything; the 22nd is the start.
        guard let fields = text("/proc/self/stat")?.split(separator: ")").last?.split(separator: " "),
            fields.count > 19, let ticks = Double(fields[19]),
            let boot = text("/proc/stat")?.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }),
            let bootSeconds = Double(boot.dropFirst(6))
        else { return nil }
        return bootSeconds + ticks / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    }

    private static func openFileCount() -> Int? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        // Without `.`, `..` and the directory's own descriptor.
        var count = -3
        while readdir(directory) != nil { count += 1 }
        return max(0, count)
    }

    private static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 8 << 10)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ProcessStatistics {
    /// The names that Prometheus' own client libraries use.
    package static let families = [
        MetricFamily("process_start_time_seconds", .gauge, "When the process started, in seconds since 1970."),
        MetricFamily("process_cpu_seconds_total", .counter, "CPU time used, in user and in system mode."),
        MetricFamily("process_resident_memory_bytes", .gauge, "Memory in use."),
        MetricFamily("process_virtual_memory_bytes", .gauge, "Address space in use."),
        MetricFamily("process_open_fds", .gauge, "Open file descriptors."),
        MetricFamily("process_max_fds", .gauge, "The most file descriptors that the process may open."),
    ]

    /// Writes what is known.
    package func write(to exposition: inout Exposition) {
        let values: [Double?] = [
            startSeconds, cpuSeconds, residentBytes.map(Double.init), virtualBytes.map(Double.init),
            openFiles.map(Double.init), maximumFiles.map(Double.init),
        ]
        for (family, value) in zip(Self.families, values) {
            if let value { exposition.single(family, value) }
        }
    }
}
