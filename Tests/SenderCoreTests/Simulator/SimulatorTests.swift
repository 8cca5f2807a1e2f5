import Testing

@testable import SenderCore

/// Many senders against a model of the database and of the provider, with every fault at random moments.
@Suite struct SimulatorTests {
    @Test(arguments: SimulatorSeeds.chunks) func everyPromiseHolds(seeds: Range<UInt64>) {
        for seed in seeds {
            let outcome = Simulation(seed: seed, isTraced: SimulatorSeeds.replayed != nil).run()
            for line in outcome.lines { print(line) }
            if !outcome.violations.isEmpty { Issue.record("\(SimulatorSeeds.report(seed, outcome))") }
        }
    }

    @Test func theSameSeedGivesTheSameRun() {
        for seed in UInt64(1)...10 {
            let runs = (1...2).map { _ in Simulation(seed: seed).run() }
            #expect(runs[0].hash == runs[1].hash, "seed \(seed)")
        }
    }

    /// Checks that find nothing are worth nothing: each mistake is seen, and as what it is.
    @Test(arguments: Flaw.allCases) func everyMistakeIsFound(flaw: Flaw) {
        var others: Set<String> = []
        for seed in UInt64(1)...300 {
            let violations = Simulation(seed: seed, flaw: flaw).run().violations
            if violations.contains(where: { flaw.breaks.contains($0.rule) }) { return }
            others.formUnion(violations.map { "\($0.rule): \($0.text)" })
        }
        Issue.record(
            "300 runs with the mistake \(flaw) broke none of \(flaw.breaks), but: \(others.sorted().prefix(9))")
    }
}
