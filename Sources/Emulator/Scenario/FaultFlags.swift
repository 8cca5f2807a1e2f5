/// The faults of the command line; nil is never.
struct FaultFlags: Sendable {
    var resetBeforeAccept: Int?
    var resetAfterAccept: Int?
    var refuseStream: Int?
    var goAway: Int?
    var resetBy = Reset.rst
    /// The most effects of all rules together.
    var limit: Int?

    /// The scenario with these flags as its first rules.
    func added(to scenario: Scenario) -> Scenario {
        var scenario = scenario
        var rules: [Rule] = []
        let add = { (name: String, every: Int?, isValidOnly: Bool, effect: Effect) in
            guard let every else { return }
            rules.append(
                Rule(name: name, match: Match(isValidOnly: isValidOnly, every: every), effect: effect))
        }
        add("--refuse-stream", refuseStream, false, .refuseStream)
        add("--reset-before-accept", resetBeforeAccept, true, .resetConnection(resetBy, .beforeAccept))
        add("--reset-after-accept", resetAfterAccept, true, .resetConnection(resetBy, .afterAccept))
        add("--goaway", goAway, false, .goAway(.this, debugData: []))
        scenario.rules = rules + scenario.rules
        scenario.limit = limit ?? scenario.limit
        return scenario
    }
}
