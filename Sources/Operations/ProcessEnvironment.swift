import FoundationEssentials

/// The environment the process was started with.
package enum ProcessEnvironment {
    /// A copy of all variables, taken once at the start: nothing else reads the environment.
    package static var current: [String: String] { ProcessInfo.processInfo.environment }
}
