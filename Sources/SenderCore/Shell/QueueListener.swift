import Operations
import Postgres
import Queue
import Reactor

/// The third connection: hears of messages that were queued, and carries what is urgent past everything else.
///
/// It comes and goes by itself; losing it costs nothing but the wait for the next poll. Behind a proxy that pools
/// transactions LISTEN does nothing and says nothing, so a notification sent over another connection has to arrive before
/// it is relied on.
final class QueueListener {
    private let settings: QueueDatabaseSettings
    private let reactor: Reactor
    private let events: EventQueue
    private var lane: DatabaseLane?
    private var backoff = Backoff()
    /// Until when the trial's notification must have arrived; `nil` when no trial is under way.
    private var trialEndsAt: Int64?
    /// Trials without success since the last one that had it.
    private var failedTrials = 0
    private let trialChannel = "todoke_trial_\(UInt64.random(in: 0 ... .max))"
    private(set) var isListening = false

    /// Asks somebody to notify the channel over another connection; the answer is whether that was possible.
    var requestTrial: (_ channel: String) -> Bool = { _ in false }
    /// Whether a notification is this sender's own.
    var isOwn: (Notification) -> Bool = { _ in false }

    init(_ settings: QueueDatabaseSettings, reactor: Reactor, events: EventQueue) {
        self.settings = settings
        self.reactor = reactor
        self.events = events
    }

    /// Whether urgent statements may be sent here.
    var carriesUrgent: Bool { isListening && lane != nil }

    var deadline: Int64? {
        guard let lane else { return backoff.retryAt }
        return [trialEndsAt, lane.deadline].compactMap(\.self).min()
    }

    func turn(now: Int64) {
        if lane == nil && now >= backoff.retryAt {
            connect(now: now)
        } else if let trialEndsAt, now >= trialEndsAt {
            // The proxy's session may keep listening on behalf of others: take it back where that can be done.
            lane?.send(.init(kind: .urgent, sql: "UNLISTEN *") { [unowned self] _ in giveUp() })
            self.trialEndsAt = nil
        }
        lane?.turn(now: now)
    }

    func send(_ statement: DatabaseLane.Statement) { lane?.send(statement) }

    private func connect(now: Int64) {
        let lane: DatabaseLane
        do {
            lane = try DatabaseLane(
                settings.directConninfo, reactor: reactor, statementTimeout: settings.statementTimeout)
        } catch {
            backoff.failed(now: now)
            return
        }
        self.lane = lane
        lane.connected = { [unowned self] in listen() }
        lane.notified = { [unowned self] notification in heard(notification) }
        lane.lost = { [unowned self] failure, unanswered in lost(failure, unanswered) }
        lane.failed = { [unowned self] kind, error in
            if isListening {
                events.append(.statementFailed(kind, Failure(error, while: "the statement for \(kind)")))
            } else {
                // A user that may not connect here, or a server that cannot listen, is no reason to stop.
                giveUp()
            }
        }
        lane.start()
    }

    private func listen() {
        for channel in [Wake.channel, trialChannel] {
            lane?.send(
                .init(kind: .urgent, sql: "LISTEN \(channel)") { [unowned self] _ in
                    guard channel == trialChannel else { return }
                    if requestTrial(channel) {
                        trialEndsAt = Reactor.now + settings.listenTimeout
                    } else {
                        // Without the other connections there is nothing to do here either.
                        lane?.lose(Failure(.unavailable, "no database", remedy: ""))
                    }
                })
        }
    }

    private func heard(_ notification: Notification) {
        if notification.channel == trialChannel {
            guard trialEndsAt != nil else { return }
            trialEndsAt = nil
            isListening = true
            failedTrials = 0
            backoff.succeeded()
            lane?.send(.init(kind: .urgent, sql: "UNLISTEN \(trialChannel)") { _ in })
            events.append(.listening(true))
            // What was notified before this connection listened was not heard.
            events.append(.woken(app: nil))
        } else if notification.channel == Wake.channel, !isOwn(notification) {
            events.append(.woken(app: notification.payload.isEmpty ? nil : notification.payload))
        }
    }

    /// LISTEN does not work here, or was slow this once: it is tried again soon, and ever more seldom, since whoever looks
    /// after the proxy may change that some day.
    private func giveUp() {
        lane?.close()
        lane = nil
        trialEndsAt = nil
        let pause = settings.listenSoon << min(failedTrials, 10)
        failedTrials += 1
        backoff.wait(until: Reactor.now + min(pause, settings.listenAgain))
        events.append(.listening(false))
    }

    private func lost(_ failure: Failure, _ unanswered: [StatementKind]) {
        lane = nil
        trialEndsAt = nil
        backoff.failed(now: Reactor.now)
        guard isListening else { return }
        isListening = false
        events.append(.listening(false))
        if unanswered.contains(.urgent) { events.append(.statementFailed(.urgent, failure)) }
    }
}
