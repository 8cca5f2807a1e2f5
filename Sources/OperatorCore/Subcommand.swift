import Operations

/// One thing the operator's tool can do.
struct Subcommand: Sendable {
    /// What a subcommand may need to know beside its options.
    struct Context: Sendable {
        /// The program as it was called, from which its files are found.
        let program: String
        /// The process's environment.
        let environment: [String: String]
    }

    let name: String
    let options: OptionTable
    let run: @Sendable (ParsedOptions, Context) throws -> ExitCode
}
