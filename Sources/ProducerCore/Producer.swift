import Operations

/// The program behind the executable: takes its arguments and environment, gives back its exit code.
package enum Producer {
    package static func run(arguments: [String], environment: [String: String]) -> Int32 {
        Program.run(ProducerOptions.table, arguments: arguments, environment: environment) { options in
            var run = try ProducerRun(ProducerOptions(options))
            return try run.run()
        }
    }
}
