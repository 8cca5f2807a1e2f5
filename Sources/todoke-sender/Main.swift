import Operations
import SenderCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@main
struct Main {
    static func main() {
        exit(Sender.run(arguments: CommandLine.arguments, environment: ProcessEnvironment.current))
    }
}
