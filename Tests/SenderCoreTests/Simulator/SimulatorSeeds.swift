import Foundation

/// Which runs a test makes, and how one that failed is seen again.
enum SimulatorSeeds {
    private static let environment = ProcessInfo.processInfo.environment

    /// The one to replay, from `TODOKE_SIMULATOR_SEED`.
    static let replayed = environment["TODOKE_SIMULATOR_SEED"].flatMap { UInt64($0) }

    /// `TODOKE_SIMULATOR_SEEDS` runs instead of those of `deploy/test`.
    static let count = environment["TODOKE_SIMULATOR_SEEDS"].flatMap { UInt64($0) } ?? 400

    /// Seeds from 1, in pieces that run beside each other.
    static var chunks: [Range<UInt64>] {
        if let replayed { return [replayed..<replayed + 1] }
        let size = max(1, count / 16)
        return stride(from: 1, through: count, by: Int(size)).map { $0..<min($0 + size, count + 1) }
    }

    /// What a person needs to see it again.
    static func report(_ seed: UInt64, _ outcome: Simulation.Outcome) -> String {
        let violations = outcome.violations.prefix(5).map { violation in
            "\(violation.rule): \(violation.text)"
        }
        return """
            seed \(seed): \(violations.joined(separator: "\\n"))
            to see it: TODOKE_SIMULATOR_SEED=\(seed) swift test --disable-xctest --filter SimulatorTests
            """
    }
}
