/// Decides which effects a request gets.
///
/// Rules are asked in order until one ends the request; the effects of those before it that do not end it come on top
/// of one another. A request that no rule with `every`, `nth` or `limit` looks at gets the same effects whatever else
/// goes on, because draws depend on the seed, the rule's place, the target, and how often that target has been seen;
/// requests without a target are numbered. Counted rules hit as many requests in every order of arrival, though not
/// the same ones, as long as no drawn rule comes after them.
struct RuleEngine {
    /// What becomes of one request.
    struct Plan {
        /// In the order of their rules; only the last one may end the request.
        var effects: [(rule: Int, effect: Effect)] = []
        /// All latencies together, nanoseconds.
        var latency: Int64 = 0
    }

    let scenario: Scenario
    /// How many requests each rule hit.
    private(set) var hits: [Int]
    private(set) var total = 0
    /// How many requests fulfilled each rule's conditions but for the counted ones and the draw.
    private var seen: [Int]
    private var arrivals = CountTable()
    private let drawsAnything: Bool

    init(_ scenario: Scenario) {
        self.scenario = scenario
        hits = Array(repeating: 0, count: scenario.rules.count)
        seen = hits
        drawsAnything = scenario.rules.contains { rule in
            if rule.match.probability != nil { return true }
            if case .latency = rule.effect { return true }
            return false
        }
    }

    /// Whether requests need not be asked about at all.
    var isIdle: Bool { scenario.rules.isEmpty }

    /// Counts one request, and says what happens to it.
    mutating func plan(for facts: RequestFacts) -> Plan {
        var plan = Plan()
        guard !isIdle else { return plan }
        let (subject, arrival) = drawsAnything ? arrive(facts) : (0, 0)
        for index in scenario.rules.indices {
            guard matches(index, facts, subject: subject, arrival: arrival) else { continue }
            let rule = scenario.rules[index]
            guard hits[index] < rule.limit ?? .max, total < scenario.limit ?? .max else { continue }
            hits[index] += 1
            total += 1
            if case .latency(let latency) = rule.effect {
                var chance = Chance(scenario.seed, UInt64(index), subject, arrival, 1)
                plan.latency += latency.nanoseconds(&chance)
            }
            plan.effects.append((index, rule.effect))
            if rule.effect.endsRequest { break }
        }
        return plan
    }

    /// The next arrival of this target, or of a request without one.
    private mutating func arrive(_ facts: RequestFacts) -> (subject: UInt64, arrival: UInt64) {
        let subject = facts.target.map { Chance.hash($0.utf8) } ?? (facts.endpoint == .token ? 1 : 2)
        return (subject, UInt64(arrivals.next(subject)))
    }

    private mutating func matches(_ index: Int, _ facts: RequestFacts, subject: UInt64, arrival: UInt64) -> Bool {
        let match = scenario.rules[index].match
        switch match.endpoint {
        case .any: break
        case .send: guard facts.endpoint == .send else { return false }
        case .token: guard facts.endpoint == .token else { return false }
        }
        if match.isValidOnly && !facts.isValid { return false }
        if let pattern = match.target {
            guard let target = facts.target, pattern.matches(target.utf8) else { return false }
        }
        if let pattern = match.project, !pattern.matches(facts.project) { return false }
        if let header = match.header {
            guard let value = facts.header(header.name), header.value.matches(value) else { return false }
        }
        if let between = match.between {
            guard facts.elapsed >= between.lowerBound, facts.elapsed < between.upperBound else { return false }
        }
        seen[index] += 1
        if let nth = match.nth, seen[index] != nth { return false }
        if let every = match.every, !seen[index].isMultiple(of: every) { return false }
        if let probability = match.probability {
            var chance = Chance(scenario.seed, UInt64(index), subject, arrival, 0)
            guard chance.next() < probability else { return false }
        }
        return true
    }
}
