import Operations
import ProducerCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@main
struct Main {
    static func main() {
        exit(Producer.run(arguments: CommandLine.arguments, environment: ProcessEnvironment.current))
    }
}
