import BenchCore
import Operations

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@main
struct Main {
    static func main() {
        exit(Bench.run(arguments: CommandLine.arguments, environment: ProcessEnvironment.current))
    }
}
