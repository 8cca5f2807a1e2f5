import Delivery
import Operations
import Reactor

/// The emulated service: takes requests, decides, answers, and keeps count.
///
/// It never waits and never writes to a socket.
final class EmulatedService {
    private let settings: EmulatorSettings
    private let sending: SendEndpoint
    private let tokenEndpoint: TokenEndpoint
    private let log: AcceptedLog?
    private let inspector: Inspector
    private var tokens = AccessTokens()
    private var names: [MessageName]
    private var state: ScenarioState
    /// The body of the answer that is being made: its memory is used again.
    private var output: [UInt8] = []
    private var later = TimedQueue<(exchange: any Exchange, ticket: Int, what: Later)>()
    private var restores = TimedQueue<any EmulatedConnection>()
    /// Both clocks as read at the first request of the turn.
    private var time: WallTime
    private var now: Int64
    private var hasReadClocks = false

    init(
        settings: EmulatorSettings, tokenEndpoint: TokenEndpoint, log: AcceptedLog?, inspector: Inspector,
        maxBodyBytes: Int
    ) {
        self.settings = settings
        self.tokenEndpoint = tokenEndpoint
        self.log = log
        self.inspector = inspector
        sending = SendEndpoint(projects: settings.projects, maxBodyBytes: maxBodyBytes)
        time = .now
        now = Reactor.now
        names = settings.projects.map { [time] in MessageName(project: $0, time: time) }
        state = ScenarioState(settings: settings, now: now)
    }

    // MARK: The scenario

    /// Whether somebody asks requests for headers beyond those that they are judged by.
    var needsHeaders: Bool { state.scenario.needsHeaders }
    var faultCount: Int { state.engine.total }
    /// How many requests each rule hit, in the order of the rules.
    var ruleHits: [(name: String, effect: String, hits: Int)] { state.ruleHits }
    /// The scenario as it would be read again, without the rules of the command line's flags.
    var scenarioJSON: [UInt8] { state.file.json }
    /// Messages that each project may send at once; nil without a quota.
    func quotaLeft(at now: Int64) -> [(project: String, messages: Int)]? {
        guard let left = state.quotaLeft(now: now) else { return nil }
        return zip(settings.projects, left).map { (project: $0, messages: $1) }
    }

    var serverConditions: ServerConditions { state.scenario.server }

    /// Seconds since the start or the last reset, by which time windows go.
    func elapsed(at now: Int64) -> Double { state.elapsed(at: now) }

    /// Puts another scenario in the place of this one and starts it from its beginning.
    func replaceScenario(_ json: [UInt8]) throws(ScenarioError) {
        let file = try ScenarioFile(json)
        readClocks()
        state = ScenarioState(file, settings: settings, now: now)
    }

    /// Puts another value in the place of one part of the scenario; what was counted for the other parts stays.
    func edit(_ part: ScenarioFile.Part, json: [UInt8]) throws(ScenarioError) {
        let file = try state.file.replacing(part, json)
        readClocks()
        state.take(part, of: file, settings: settings, now: now)
    }

    /// Starts the scenario from its beginning: counts, draws, quota, targets, and its clock.
    func reset() {
        readClocks()
        state = ScenarioState(state.file, settings: settings, now: now)
    }

    // MARK: Turns

    /// Everything in one turn happens at one time.
    private func readClocks() {
        guard !hasReadClocks else { return }
        hasReadClocks = true
        time = .now
        now = Reactor.now
    }

    /// Writes what was accepted; comes before the answers go out.
    func endTurn() throws(Failure) {
        hasReadClocks = false
        try log?.flush()
    }

    /// Does what is due.
    func answerDue() {
        guard later.nextDue != nil || restores.nextDue != nil else { return }
        readClocks()
        while let due = later.next(dueAt: now) {
            guard due.exchange.ticket == due.ticket else { continue }
            switch due.what {
            case .answer(let head, let body, let drip): answer(due.exchange, head, body, drip)
            case .end(let end): self.end(due.exchange, end)
            case .drip(let drip):
                if due.exchange.release(drip.bytes) {
                    later.add((due.exchange, due.ticket, .drip(drip)), due: now + drip.every)
                }
            }
        }
        while let connection = restores.next(dueAt: now) {
            connection.limitStreams(to: settings.maxConcurrentStreams)
        }
    }

    /// Nanoseconds until something is due; nil when nothing is.
    func delayUntilNextAnswer() -> Int64? {
        guard let next = [later.nextDue, restores.nextDue].compactMap(\.self).min() else { return nil }
        return max(0, next - Reactor.now)
    }

    // MARK: Requests

    /// Decides about one request and queues its answer or its fault.
    func handle(_ exchange: some Exchange) {
        readClocks()
        output.removeAll(keepingCapacity: true)
        let path = exchange.path
        switch Route(method: exchange.method, path: path) {
        case .send(let project): handleSend(exchange, path[project])
        case .token: handleToken(exchange)
        case .notFound: refuse(exchange, FrontEndPage.write(status: 404, path: path, to: &output))
        case .methodNotAllowed: refuse(exchange, FrontEndPage.write(status: 405, path: path, to: &output))
        }
    }

    private func refuse(_ exchange: some Exchange, _ head: AnswerHead) {
        settle(exchange, Settlement(endpoint: .other, outcome: .refused, status: head.status))
        answer(exchange, head, output, nil)
    }

    private func handleToken(_ exchange: some Exchange) {
        let plan = state.engine.plan(
            for: RequestFacts(endpoint: .token, header: exchange.header, elapsed: elapsed(at: now)))
        let applied = apply(plan, to: exchange)
        guard !applied.isEnded else {
            return settle(
                exchange,
                Settlement(endpoint: .token, outcome: .faulted, status: applied.status, code: applied.name))
        }
        let head = tokenEndpoint.answer(
            exchange.body, conditions: state.scenario.token, tokens: &tokens, time: time, now: now, into: &output)
        settle(
            exchange,
            Settlement(
                endpoint: .token, outcome: head.status == 200 ? .accepted : .refused, status: head.status,
                delay: plan.latency))
        answer(exchange, head, after: plan.latency, applied.drip)
    }

    /// The body of the metadata server's answer: the scenario's `token` counts for it, its rules do not.
    func metadataToken() -> [UInt8] {
        readClocks()
        var body: [UInt8] = []
        tokenEndpoint.answerMachine(state.scenario.token, tokens: &tokens, now: now, into: &body)
        // No connection of the emulated service's own has this number.
        inspector.record(
            RequestRecord(
                endpoint: .token, outcome: .accepted, status: 200, connectionID: -1, isHTTP2: false, time: now))
        return body
    }

    private func handleSend(_ exchange: some Exchange, _ project: ArraySlice<UInt8>) {
        let body = exchange.body
        var judgement = sending.judge(
            project: project,
            tokenState: tokens.state(ofHeader: exchange.authorization, now: now), body: body,
            isBodyCut: exchange.isBodyCut)
        state.judge(&judgement, now: now)
        var settlement = Settlement(endpoint: .send, judgement: judgement, body: body)
        var drip: Drip?
        if !state.engine.isIdle {
            let plan = state.engine.plan(for: facts(exchange, project, judgement))
            settlement.delay = plan.latency
            let applied = apply(plan, to: exchange, accepting: judgement, body)
            if applied.isEnded {
                settlement.outcome = applied.hasAccepted ? .accepted : .faulted
                settlement.code = applied.name
                settlement.status = applied.status
                settlement.retryAfter = applied.retryAfter
                return settle(exchange, settlement)
            }
            drip = applied.drip
        }
        settlement.delay += Int64(settings.latency) * 1_000_000
        let delay = settlement.delay
        switch judgement.decision {
        case .accept(let message):
            accept(body, message, judgement)
            names[judgement.project ?? 0].writeAccepted(to: &output)
            settle(exchange, settlement)
            answer(exchange, .ok, after: delay, drip)
        case .validated:
            names[judgement.project ?? 0].writeValidated(to: &output)
            settlement.outcome = .validated
            settle(exchange, settlement)
            answer(exchange, .ok, after: delay, drip)
        case .refuse(let refusal):
            refusal.error.write(to: &output)
            settlement.outcome = .refused
            settlement.status = refusal.error.code
            settlement.code = refusal.code
            settlement.retryAfter = refusal.retryAfter
            settle(exchange, settlement)
            answer(exchange, refusal.head, after: delay, drip)
        }
    }

    private func facts(
        _ exchange: some Exchange, _ project: ArraySlice<UInt8>, _ judgement: SendEndpoint.Judgement
    ) -> RequestFacts {
        var isValid = false
        if case .accept = judgement.decision { isValid = true }
        return RequestFacts(
            endpoint: .send, target: judgement.target?.value, project: project, isValid: isValid,
            header: exchange.header, elapsed: elapsed(at: now))
    }

    private func accept(_ body: [UInt8], _ message: Range<Int>, _ judgement: SendEndpoint.Judgement) {
        log?.append(body.span.extracting(message), project: judgement.project ?? 0, at: time)
    }

    /// What the inspector is to know, at the moment when it is decided.
    struct Settlement {
        let endpoint: RequestRecord.Endpoint
        var outcome = RequestRecord.Outcome.accepted
        /// 0 when there is no answer.
        var status = 200
        /// FCM's code or google.rpc's status of a refusal, or the name of the effect that ended the request.
        var code = ""
        /// Seconds in `retry-after`.
        var retryAfter: Int?
        /// Nanoseconds until the answer goes out.
        var delay: Int64 = 0
        var judgement: SendEndpoint.Judgement?
        var body: [UInt8] = []
    }

    private func settle(_ exchange: some Exchange, _ settlement: Settlement) {
        if settlement.status != 0 || settlement.outcome == .accepted {
            exchange.connection.decidedTicket = max(exchange.connection.decidedTicket, exchange.ticket)
        }
        let record = RequestRecord(
            endpoint: settlement.endpoint, outcome: settlement.outcome, code: settlement.code,
            status: settlement.status, retryAfter: settlement.retryAfter, delay: settlement.delay,
            connectionID: exchange.connection.id, isHTTP2: exchange.connection.isHTTP2, time: now)
        if let judgement = settlement.judgement, let message = judgement.message {
            inspector.record(record, target: judgement.target, message: settlement.body.span.extracting(message))
        } else {
            inspector.record(record, target: settlement.judgement?.target)
        }
    }

    // MARK: Effects

    /// What a plan has done to a request.
    private struct Applied {
        var isEnded = false
        /// The effect that ended it.
        var name = ""
        var status = 0
        var retryAfter: Int?
        /// The message was accepted although its answer is lost.
        var hasAccepted = false
        var drip: Drip?
    }

    /// Does everything that a plan has for a request but for its own answer.
    private func apply(
        _ plan: RuleEngine.Plan, to exchange: some Exchange, accepting judgement: SendEndpoint.Judgement? = nil,
        _ body: [UInt8] = []
    ) -> Applied {
        var applied = Applied()
        let connection = exchange.connection
        let acceptIfDue = { [self] (when: Effect.When) in
            guard when == .afterAccept, let judgement, case .accept(let message) = judgement.decision else { return }
            accept(body, message, judgement)
            applied.hasAccepted = true
        }
        for (_, effect) in plan.effects {
            if effect.endsRequest { (applied.isEnded, applied.name) = (true, effect.name) }
            switch effect {
            case .latency: break
            case .drip(let bytes, let every): applied.drip = applied.drip ?? Drip(bytes: bytes, every: every)
            case .limitStreams(let count, let duration):
                connection.limitStreams(to: count)
                if let duration { restores.add(connection, due: now + duration) }
            case .answer(let made, let when):
                acceptIfDue(when)
                (applied.status, applied.retryAfter) = (made.head.status, made.head.retryAfter)
                output.append(contentsOf: made.body)
                answer(exchange, made.head, after: plan.latency, applied.drip)
            case .stall(let when): acceptIfDue(when)
            case .resetStream(let code, let when):
                acceptIfDue(when)
                end(exchange, .cut(.reset(code: code)), after: plan.latency)
            case .resetConnection(let how, let when):
                acceptIfDue(when)
                end(exchange, .reset(how), after: plan.latency)
            case .refuseStream: end(exchange, .cut(.refused), after: plan.latency)
            case .goAway(let last, let debugData): goAway(exchange, last, debugData)
            }
        }
        return applied
    }

    private func goAway(_ exchange: some Exchange, _ last: Effect.LastStream, _ debugData: [UInt8]) {
        let connection = exchange.connection
        switch last {
        case .this: connection.goAway(lastTicket: connection.lastTicket, debugData: debugData)
        // HTTP/1.1 cannot say that a request was not processed.
        case .previous, .zero:
            guard connection.isHTTP2 else { return connection.reset(by: .rst) }
            // The ids of a client's streams are odd. Requests come to their end out of order.
            let previous = max(0, exchange.ticket - 2, connection.decidedTicket)
            connection.goAway(lastTicket: last == .zero ? 0 : previous, debugData: debugData)
        }
    }

    private func answer(_ exchange: some Exchange, _ head: AnswerHead, after delay: Int64, _ drip: Drip?) {
        guard delay > 0 else { return answer(exchange, head, output, drip) }
        later.add((exchange, exchange.ticket, .answer(head, output, drip)), due: now + delay)
    }

    private func answer(_ exchange: some Exchange, _ head: AnswerHead, _ body: [UInt8], _ drip: Drip?) {
        let skew = state.scenario.server.dateSkew
        let shown = skew == 0 ? time : time.moved(by: skew)
        guard let drip else { return exchange.answer(head, body, at: shown) }
        exchange.answer(head, body, at: shown, releasing: drip.bytes)
        if body.count > drip.bytes {
            later.add((exchange, exchange.ticket, .drip(drip)), due: now + drip.every)
        }
    }

    private func end(_ exchange: some Exchange, _ end: RequestEnd, after delay: Int64 = 0) {
        guard delay == 0 else { return later.add((exchange, exchange.ticket, .end(end)), due: now + delay) }
        switch end {
        case .cut(let cut): exchange.cut(cut)
        case .reset(let how): exchange.connection.reset(by: how)
        }
    }
}
