import Operations
import Emulator

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@main
struct Main {
    static func main() {
        exit(EmulatorProgram.run(arguments: CommandLine.arguments, environment: ProcessEnvironment.current))
    }
}
