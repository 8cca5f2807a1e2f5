/// Why a scenario cannot be used: the place in the file, what is wrong there, and what to write instead.
struct ScenarioError: Error, Equatable, CustomStringConvertible {
    /// `rules[2].effect.reset`; empty for the file as a whole.
    let path: String
    let problem: String
    let remedy: String

    /// The path, or what the whole is.
    var place: String { path.isEmpty ? "scenario" : path }
    var description: String { "\(place): \(problem); \(remedy)" }
}
