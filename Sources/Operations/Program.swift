/// What every `main` does: parse, run, and turn a failure into one line and an exit code.
package enum Program {
    /// Runs `body` with the parsed options and gives back the process's exit code.
    ///
    /// `arguments` starts with the program's own name, as the system passes it.
    package static func run(
        _ table: OptionTable, arguments: [String], environment: [String: String],
        body: (ParsedOptions) throws -> ExitCode
    ) -> Int32 {
        StandardStream.fillGaps()
        do {
            switch try table.parse(arguments: Array(arguments.dropFirst()), environment: environment) {
            case .help:
                StandardStream.output.write(table.helpText)
                return ExitCode.ok.rawValue
            case .version:
                StandardStream.output.writeLine("\(table.program) \(Version.current)")
                return ExitCode.ok.rawValue
            case .run(let options):
                return try body(options).rawValue
            }
        } catch let failure as Failure {
            StandardStream.error.writeLine("\(table.program): \(failure.line)")
            return failure.exit.rawValue
        } catch {
            // Every error of ours is typed and turned into a Failure where it is known; this one is a bug of ours.
            StandardStream.error.writeLine("\(table.program): unexpected error: \(error); please report this")
            return ExitCode.software.rawValue
        }
    }
}
