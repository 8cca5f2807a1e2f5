import Delivery
import HTTP1
import Reactor

/// Answers control requests.
final class ControlAPI {
    /// Parts that `/reset?only=` knows: the counts, the whole scenario, and those of its parts that go on from where they are.
    static let parts = ["counts", "scenario", "quota", "targets", "rules"]

    private let inspector: Inspector
    let service: EmulatedService
    private let url: String
    private var waiters = Waiters()

    init(inspector: Inspector, service: EmulatedService, url: String) {
        self.inspector = inspector
        self.service = service
        self.url = url
    }

    /// Answers now, or later when the request is one to `/wait`.
    func handle(_ request: HTTP1Request) {
        do throws(ControlError) {
            if let response = try answer(request) { request.respond(markMetadata(response, of: request)) }
        } catch {
            request.respond(markMetadata(error.response, of: request))
        }
    }

    /// Answers those who wait for something that has come.
    func checkWaiters() { waiters.check(inspector, now: Reactor.now) }

    /// Nanoseconds until somebody has waited long enough.
    func delay(now: Int64) -> Int64? { waiters.delay(now: now) }

    private func answer(_ request: HTTP1Request) throws(ControlError) -> HTTP1Response? {
        try ControlOrigin.check(request)
        let query = ControlQuery(request.target)
        var method = String(decoding: request.method, as: UTF8.self)
        // The library leaves the body out.
        if method == "HEAD" { method = "GET" }
        let routes = ControlRoute.all.filter { $0.fits(query.path) }
        guard !routes.isEmpty else {
            throw ControlError(
                404, "there is no \(query.path.prefix(100))", remedy: "GET / lists the routes: curl -s \(url)/")
        }
        guard routes.contains(where: { $0.method == method }) else {
            let allow = routes.map(\.method).joined(separator: ", ")
            throw ControlError(
                405, "\(query.path) does not take \(method.prefix(20))", remedy: "use \(allow)", allow: allow)
        }
        let clock = WallClock(now: Reactor.now, time: .now)
        if let response = try answerScenario(request, method, query.path) { return response }
        switch query.path {
        case Self.metadataTokenPath: return try answerMetadata(request)
        case "/stats":
            return HTTP1Response(
                json: inspector.stats(clock, more: [("quota_left", quotaLeft(clock)), ("rules", rules)]))
        case "/connections": return HTTP1Response(json: inspector.connectionList(clock))
        case "/violations": return HTTP1Response(json: inspector.violationList(clock))
        case "/messages": return HTTP1Response(json: try messages(query, clock))
        case "/wait": return try wait(request, query, clock)
        case "/reset": return try reset(query, clock)
        default: return HTTP1Response(json: .members([("routes", .array(ControlRoute.all.map { $0.tree(url: url) }))]))
        }
    }

    private func messages(_ query: ControlQuery, _ clock: WallClock) throws(ControlError) -> JSONValue {
        try refuseUnknown(query, ["last", "target", "outcome", "code"])
        let last = try query.integer("last", in: 1...MessageRing.capacity, default: 20)
        var outcome: RequestRecord.Outcome?
        if let name = query.value("outcome") {
            outcome = RequestRecord.Outcome(rawValue: name)
            guard outcome != nil else {
                throw ControlError(
                    400, "there is no outcome \"\(name.prefix(50))\"",
                    remedy: "use one of \(RequestRecord.Outcome.allCases.map(\.rawValue).joined(separator: ", "))")
            }
        }
        let code = query.value("code")
        let targets = query.value("target").map { text in
            TargetKind.allCases.map { Fingerprint(MessageTarget(kind: $0, value: text)) }
        }
        let found = inspector.messages.last(last) { entry in
            if let outcome, entry.record.outcome != outcome { return false }
            if let code, entry.record.code != code { return false }
            guard let targets else { return true }
            return entry.target.map { targets.contains($0.fingerprint) } ?? false
        }
        return .members([("messages", .array(found.map { $0.tree(clock) }))])
    }

    private func wait(
        _ request: HTTP1Request, _ query: ControlQuery, _ clock: WallClock
    ) throws(ControlError) -> HTTP1Response? {
        let timeout = try query.integer("timeout", in: 0...3600, default: 30)
        var conditions: [WaitCondition] = []
        for field in query.fields where field.name != "timeout" {
            conditions.append(try WaitCondition(name: field.name, value: field.value))
        }
        guard !conditions.isEmpty else {
            throw ControlError(
                400, "there is nothing to wait for",
                remedy: "name a number: curl -s '\(url)/wait?accepted=1000&timeout=10'")
        }
        waiters.add(request, conditions, now: clock.now, timeout: Int64(timeout) * 1_000_000_000)
        request.whenGone = { [weak self, unowned request] in self?.waiters.remove(request) }
        waiters.check(inspector, now: clock.now)
        return nil
    }

    private func reset(_ query: ControlQuery, _ clock: WallClock) throws(ControlError) -> HTTP1Response {
        try refuseUnknown(query, ["only"])
        let wanted = query.value("only").map { $0.split(separator: ",").map(String.init) } ?? Self.parts
        if let unknown = wanted.first(where: { !Self.parts.contains($0) }) {
            throw ControlError(
                400, "there is no part \"\(unknown.prefix(50))\" to reset",
                remedy: "use a list of \(Self.parts.joined(separator: ", ")), or leave only= out for everything")
        }
        if wanted.contains("counts") { inspector.resetCounts(at: clock.now) }
        if wanted.contains("scenario") {
            service.reset()
        } else {
            for part in wanted.compactMap({ ScenarioFile.Part(rawValue: $0) }) { try restart(part) }
        }
        return HTTP1Response(json: .members([("reset", .array(wanted.map { .string($0) }))]))
    }

    private func quotaLeft(_ clock: WallClock) -> JSONValue {
        guard let left = service.quotaLeft(at: clock.now) else { return .null }
        return .members(left.map { ($0.project, .int($0.messages)) })
    }

    /// The scenario's rules and how many requests each hit.
    private var rules: JSONValue {
        .array(
            service.ruleHits.map {
                .members([("name", .string($0.name)), ("effect", .string($0.effect)), ("hits", .int($0.hits))])
            })
    }

    private func refuseUnknown(_ query: ControlQuery, _ known: [String]) throws(ControlError) {
        guard let name = query.firstUnknown(known) else { return }
        throw ControlError(
            400, "\(query.path) does not know \"\(name.prefix(50))\"",
            remedy: "it takes \(known.joined(separator: ", "))")
    }
}
