import Operations
import Reactor

/// The emulated service: takes requests, decides, answers, and keeps count.
///
/// It never waits and never writes to a socket.
final class EmulatedService {
    /// How many requests ended how.
    struct Counts {
        var accepted = 0
        var validated = 0
        var refused = 0
        var tokens = 0
    }

    private let settings: EmulatorSettings
    private let sending: SendEndpoint
    private let tokenEndpoint: TokenEndpoint
    private let log: AcceptedLog?
    private var tokens = AccessTokens()
    private var faults: FaultPlan
    private var names: MessageName
    /// The body of the answer that is being made: its memory is used again.
    private var output: [UInt8] = []
    private(set) var counts = Counts()
    private var delayed = TimedQueue<DelayedAnswer>()
    /// Both clocks as read at the first request of the turn.
    private var time: WallTime
    private var now: Int64
    private var hasReadClocks = false

    init(settings: EmulatorSettings, tokenEndpoint: TokenEndpoint, log: AcceptedLog?, maxBodyBytes: Int) {
        self.settings = settings
        self.tokenEndpoint = tokenEndpoint
        self.log = log
        sending = SendEndpoint(project: settings.project, maxBodyBytes: maxBodyBytes)
        faults = FaultPlan(settings.faults)
        time = .now
        now = Reactor.now
        names = MessageName(project: settings.project, time: time)
    }

    var faultCount: Int { faults.count }
    /// Whether somebody asks requests for headers beyond those that they are judged by.
    var needsHeaders: Bool { false }

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

    /// Decides about one request and queues its answer or its fault.
    func handle(_ exchange: some Exchange) {
        readClocks()
        output.removeAll(keepingCapacity: true)
        let path = exchange.path
        switch Route(method: exchange.method, path: path) {
        case .send(let project): handleSend(exchange, path[project])
        case .token:
            counts.tokens += 1
            let head = tokenEndpoint.answer(exchange.body, tokens: &tokens, time: time, now: now, into: &output)
            exchange.answer(head, output, at: time)
        case .notFound:
            exchange.answer(FrontEndPage.write(status: 404, path: path, to: &output), output, at: time)
        case .methodNotAllowed:
            exchange.answer(FrontEndPage.write(status: 405, path: path, to: &output), output, at: time)
        }
    }

    private func handleSend(_ exchange: some Exchange, _ project: ArraySlice<UInt8>) {
        if faults.refusesStream() { return exchange.cut(.refused) }
        let body = exchange.body
        let decision = sending.decide(
            project: project, tokenState: tokens.state(ofHeader: exchange.authorization, now: now), body: body,
            isBodyCut: exchange.isBodyCut)
        switch decision {
        case .accept(let message):
            if faults.resetsBeforeAccept() { return exchange.connection.reset(by: settings.faults.resetBy) }
            counts.accepted += 1
            log?.append(body.span.extracting(message), at: time)
            if faults.resetsAfterAccept() { return exchange.connection.reset(by: settings.faults.resetBy) }
            names.writeAccepted(to: &output)
            answerLate(exchange, .ok)
        case .validated:
            counts.validated += 1
            names.writeValidated(to: &output)
            answerLate(exchange, .ok)
        case .refuse(let refusal):
            counts.refused += 1
            refusal.error.write(to: &output)
            answerLate(exchange, refusal.head)
        }
        if faults.goesAway() { exchange.connection.goAway(lastTicket: exchange.connection.lastTicket, debugData: []) }
    }

    private func answerLate(_ exchange: some Exchange, _ head: AnswerHead) {
        guard settings.latency > 0 else { return exchange.answer(head, output, at: time) }
        delayed.add(
            DelayedAnswer(exchange: exchange, ticket: exchange.ticket, head: head, body: output),
            due: now + Int64(settings.latency) * 1_000_000)
    }

    /// Queues the answers that are due.
    func answerDue() {
        guard delayed.nextDue != nil else { return }
        readClocks()
        while let late = delayed.next(dueAt: now) {
            guard late.exchange.ticket == late.ticket else { continue }
            late.exchange.answer(late.head, late.body, at: time)
        }
    }

    /// Nanoseconds until the next late answer; nil when there is none.
    func delayUntilNextAnswer() -> Int64? {
        delayed.nextDue.map { max(0, $0 - Reactor.now) }
    }
}
