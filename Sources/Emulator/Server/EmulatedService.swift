import HTTP2
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
    private var headers = AnswerHeaders()
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

    /// Decides about one request and queues its answer or its fault on the connection.
    func handle(_ stream: ServerStream, on connection: ServerConnection) {
        readClocks()
        switch Route(method: stream.method, path: stream.path) {
        case .send(let project): handleSend(stream, project, on: connection)
        case .token:
            counts.tokens += 1
            let head = tokenEndpoint.answer(
                stream.body, tokens: &tokens, time: time, now: now, into: &stream.responseBody)
            answer(stream, head, on: connection)
        case .notFound:
            answer(
                stream, FrontEndPage.write(status: 404, path: stream.path, to: &stream.responseBody), on: connection)
        case .methodNotAllowed:
            answer(
                stream, FrontEndPage.write(status: 405, path: stream.path, to: &stream.responseBody), on: connection)
        }
    }

    private func handleSend(_ stream: ServerStream, _ project: Range<Int>, on connection: ServerConnection) {
        if faults.refusesStream() { return connection.refuse(stream) }
        let decision = sending.decide(
            project: stream.path[project], tokenState: tokens.state(ofHeader: stream.authorization, now: now),
            body: stream.body, isBodyCut: stream.isBodyCut)
        switch decision {
        case .accept(let message):
            if faults.resetsBeforeAccept() { return connection.reset(by: settings.faults.resetBy) }
            counts.accepted += 1
            log?.append(stream.body.span.extracting(message), at: time)
            if faults.resetsAfterAccept() { return connection.reset(by: settings.faults.resetBy) }
            names.writeAccepted(to: &stream.responseBody)
            answerLate(stream, .ok, on: connection)
        case .validated:
            counts.validated += 1
            names.writeValidated(to: &stream.responseBody)
            answerLate(stream, .ok, on: connection)
        case .refuse(let refusal):
            counts.refused += 1
            refusal.error.write(to: &stream.responseBody)
            answerLate(stream, refusal.head, on: connection)
        }
        if faults.goesAway() { connection.goAway(lastStreamID: connection.lastRequestID) }
    }

    private func answer(_ stream: ServerStream, _ head: AnswerHead, on connection: ServerConnection) {
        connection.respond(to: stream, id: stream.id, headers: headers.block(for: head, at: time))
    }

    private func answerLate(_ stream: ServerStream, _ head: AnswerHead, on connection: ServerConnection) {
        guard settings.latency > 0 else { return answer(stream, head, on: connection) }
        delayed.add(
            DelayedAnswer(
                connection: connection, stream: stream, streamID: stream.id, head: head, body: stream.responseBody),
            due: now + Int64(settings.latency) * 1_000_000)
    }

    /// Queues the answers that are due; `touched` is called with each connection that got one.
    func answerDue(_ touched: (ServerConnection) -> Void) {
        guard delayed.nextDue != nil else { return }
        readClocks()
        while let late = delayed.next(dueAt: now) {
            guard late.stream.id == late.streamID, late.connection.phase == .open else { continue }
            late.stream.responseBody = late.body
            late.connection.respond(
                to: late.stream, id: late.streamID, headers: headers.block(for: late.head, at: time))
            touched(late.connection)
        }
    }

    /// Nanoseconds until the next late answer; nil when there is none.
    func delayUntilNextAnswer() -> Int64? {
        delayed.nextDue.map { max(0, $0 - Reactor.now) }
    }
}
