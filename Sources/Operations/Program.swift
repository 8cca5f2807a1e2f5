import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What every `main` does: parse, run, and turn a failure into one line and an exit code.
package enum Program {
    /// Runs `body` with the parsed options and gives back the process's exit code.
    ///
    /// `arguments` starts with the program's own name, as the system passes it. A failure is one line on standard error; with
    /// `--json` and no result it is an object on standard output as well, so that a program that reads there need not guess.
    package static func run(
        _ table: OptionTable, arguments: [String], environment: [String: String],
        body: (ParsedOptions) throws -> ExitCode
    ) -> Int32 {
        StandardStream.fillGaps()
        var wantsJSON = arguments.contains("--json")
        do {
            switch try table.parse(arguments: Array(arguments.dropFirst()), environment: environment) {
            case .help:
                StandardStream.output.write(table.helpText)
                return ExitCode.ok.rawValue
            case .version:
                StandardStream.output.writeLine("\(table.program) \(Version.current)")
                return ExitCode.ok.rawValue
            case .run(let options):
                wantsJSON = options.isSet("json")
                let exit = try body(options)
                if let lost = lostOutput() { throw lost }
                return exit.rawValue
            }
        } catch let failure as Failure {
            StandardStream.error.writeLine("\(table.program): \(failure.line)")
            if wantsJSON && !StandardStream.hasOutput.load(ordering: .relaxed) {
                StandardStream.output.writeLine(json(failure))
            }
            return failure.exit.rawValue
        } catch {
            // Every error of ours is typed and turned into a Failure where it is known; this one is a bug of ours.
            StandardStream.error.writeLine("\(table.program): unexpected error: \(error); please report this")
            return ExitCode.software.rawValue
        }
    }

    /// `{"error":{"what":…,"remedy":…,"exit_code":65}}`.
    static func json(_ failure: Failure) -> String {
        "{\"error\":{\"what\":\(Log.quoted(failure.what, always: true)),"
            + "\"remedy\":\(Log.quoted(failure.remedy, always: true)),\"exit_code\":\(failure.exit.rawValue)}}"
    }

    /// What was done is done, but who asked for its result did not get it.
    private static func lostOutput() -> Failure? {
        let number = StandardStream.lostOutput.load(ordering: .relaxed)
        guard number != 0 else { return nil }
        return Failure(
            .configuration,
            "what was asked for is done, but its result could not be written: \(String(cString: strerror(number)))",
            remedy: "make room, or write elsewhere")
    }
}
