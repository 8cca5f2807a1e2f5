import Delivery

/// A scenario as it runs: its counters, buckets and clock.
struct ScenarioState {
    private(set) var file: ScenarioFile
    /// The file's scenario and the rules of the command line's flags.
    private(set) var scenario: Scenario
    var engine: RuleEngine
    private var quota: Quota?
    private var targets: Targets
    /// Nanoseconds of the monotonic clock.
    private let start: Int64

    init(settings: EmulatorSettings, now: Int64) { self.init(settings.scenario, settings: settings, now: now) }

    init(_ file: ScenarioFile, settings: EmulatorSettings, now: Int64) {
        self.file = file
        scenario = settings.faults.added(to: file.scenario)
        engine = RuleEngine(scenario)
        quota = scenario.quota.map { Quota($0, projects: settings.projects.count, now: now) }
        targets = Targets(scenario.targets)
        start = now
    }

    /// Takes over one part of another file, which begins anew; the others go on.
    mutating func take(_ part: ScenarioFile.Part, of file: ScenarioFile, settings: EmulatorSettings, now: Int64) {
        self.file = file
        scenario = settings.faults.added(to: file.scenario)
        switch part {
        case .quota: quota = scenario.quota.map { Quota($0, projects: settings.projects.count, now: now) }
        case .targets: targets = Targets(scenario.targets)
        // Errors and latencies of the token endpoint are rules too.
        case .rules, .token: engine = RuleEngine(scenario)
        case .server: break
        }
    }

    /// Seconds since the start or the last reset.
    func elapsed(at now: Int64) -> Double { Double(now - start) / 1e9 }

    /// Messages that each project may send at once; nil without a quota.
    mutating func quotaLeft(now: Int64) -> [Int]? { quota?.left(now: now) }

    var ruleHits: [(name: String, effect: String, hits: Int)] {
        zip(scenario.rules, engine.hits).map { ($0.name, $0.effect.name, $1) }
    }

    /// Changes the endpoint's decision by the quota and by what is wrong with the target.
    mutating func judge(_ judgement: inout SendEndpoint.Judgement, now: Int64) {
        if quota != nil, let project = judgement.project, quota?.take(project: project, now: now) == false {
            if let refusal = quota?.settings.refusal { judgement.decision = .refuse(refusal) }
            return
        }
        guard let target = judgement.target, target.kind == .token || target.kind == .fid else { return }
        let isValidateOnly: Bool
        switch judgement.decision {
        case .accept: isValidateOnly = false
        case .validated: isValidateOnly = true
        case .refuse: return
        }
        if let refusal = targets.refusal(target.value, isValidateOnly: isValidateOnly) {
            judgement.decision = .refuse(refusal)
        }
    }
}
