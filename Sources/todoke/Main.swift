import Operations
import OperatorCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@main
struct Main {
    static func main() {
        exit(Operator.run(arguments: CommandLine.arguments, environment: ProcessEnvironment.current))
    }
}
