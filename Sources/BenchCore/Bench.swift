import Curl
import Operations

/// The program behind `todoke-bench`: takes its arguments and environment, gives back its exit code.
package enum Bench {
    package static func run(arguments: [String], environment: [String: String]) -> Int32 {
        Program.run(BenchOptions.table, arguments: arguments, environment: environment) { options in
            let program = arguments.first ?? "todoke-bench"
            let settings = try BenchSettings(options, program: program)
            let interruption = Interruption()
            try CurlLibrary.initialize()
            let queue = try ScratchQueue(
                url: options.string("database-url"), days: settings.days, sqlDirectory: options.string("sql-dir"),
                program: program)
            defer { queue.drop() }
            let directory = try ScratchDirectory()
            let bench = Rounds(
                settings: settings, queue: queue, directory: directory, interruption: interruption,
                isQuiet: options.isSet("json"))
            let report = Report(
                settings: settings, results: try bench.run(), postgres: try ServerFigures.settings(queue))
            let output = BufferedOutput(.output)
            output.writeLine(options.isSet("json") ? report.json : report.text)
            try output.finish()
            return .ok
        }
    }
}
