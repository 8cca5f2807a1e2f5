/// Watches a client for what FCM's documentation asks it not to do; time comes with the records.
struct Guidance {
    /// Refusals that are remembered, to recognise a repetition; the oldest makes room.
    static let mostRefusals = 1 << 16
    static let mostExamples = 5
    private static let second: Int64 = 1_000_000_000

    private struct Refusal {
        let time: Int64
        let status: Int
        /// When a repetition is in order; nil is never.
        let allowed: Int64?
        /// Which of the ring's places is this one's.
        let place: Int
    }

    private(set) var counts = [Int](repeating: 0, count: GuidanceRule.allCases.count)
    private(set) var examples = [[Violation]](repeating: [], count: GuidanceRule.allCases.count)
    private var refusals: [Fingerprint: Refusal] = [:]
    private var order: [Fingerprint] = []
    private var nextPlace = 0
    /// When the project is held, and since when.
    private var hold: (from: Int64, until: Int64)?
    private var minute = (start: Int64(0), messages: 0, clientErrors: 0)
    private var singleUse = 0

    var total: Int { counts.reduce(0, +) }
    /// Whether a message's fingerprint is needed for `judge`.
    var knowsRefusals: Bool { !refusals.isEmpty }

    func count(of rule: GuidanceRule) -> Int { counts[rule.index] }
    func examples(of rule: GuidanceRule) -> [Violation] { examples[rule.index] }

    /// Takes in a request to `messages:send`; `message` is its fingerprint, when it had a message.
    mutating func judge(_ record: RequestRecord, message: Fingerprint?, target: RedactedTarget?) {
        countClientErrors(record)
        if let hold, record.time < hold.until, record.time > hold.from + Self.second {
            add(
                .sendingDuringHold, record.time, target,
                "sent \(Self.seconds(hold.until - record.time)) s before the end of Retry-After")
        }
        if let message, let earlier = refusals[message] {
            judgeRepetition(of: earlier, record, target)
            forget(message, earlier)
        }
        guard record.status >= 400 else { return }
        remember(record, message)
        guard record.status == 429 else { return }
        add(.overQuota, record.time, target, "answered 429 \(record.code)")
        if let seconds = record.retryAfter {
            // The answer of a delayed refusal is not known before it is out.
            let from = record.time + record.delay
            hold = (from, from + Int64(seconds) * Self.second)
        }
    }

    /// Takes in a connection that has ended.
    mutating func judge(ended connection: ConnectionEntry, at time: Int64) {
        guard connection.messages > 0 else { return }
        guard connection.messages == 1 else {
            singleUse = 0
            return
        }
        singleUse += 1
        if singleUse >= 10 {
            add(
                .connectionPerMessage, time, nil,
                "connection \(connection.id) carried one message, \(singleUse) in a row")
        }
    }

    private mutating func judgeRepetition(of earlier: Refusal, _ record: RequestRecord, _ target: RedactedTarget?) {
        let waited = Self.seconds(record.time - earlier.time)
        if let allowed = earlier.allowed {
            guard record.time < allowed else { return }
            add(
                .earlyRetry, record.time, target,
                "repeated \(waited) s after \(earlier.status), not \(Self.seconds(allowed - earlier.time)) s")
        } else {
            add(.retryAfterFinal, record.time, target, "repeated \(waited) s after \(earlier.status)")
        }
    }

    private mutating func remember(_ record: RequestRecord, _ message: Fingerprint?) {
        guard let message else { return }
        let answered = record.time + record.delay
        let allowed: Int64?
        switch record.status {
        case 400, 403, 404: allowed = nil
        case 429, 500...599: allowed = answered + Int64(max(10, record.retryAfter ?? 0)) * Self.second
        default: return
        }
        if order.count < Self.mostRefusals {
            order.append(message)
        } else {
            let oldest = order[nextPlace]
            if refusals[oldest]?.place == nextPlace { refusals[oldest] = nil }
            order[nextPlace] = message
        }
        refusals[message] = Refusal(time: answered, status: record.status, allowed: allowed, place: nextPlace)
        nextPlace = (nextPlace + 1) % Self.mostRefusals
    }

    private mutating func forget(_ message: Fingerprint, _ refusal: Refusal) { refusals[message] = nil }

    private mutating func countClientErrors(_ record: RequestRecord) {
        if record.time - minute.start >= 60 * Self.second {
            if minute.messages >= 100, minute.clientErrors * 20 > minute.messages {
                add(
                    .clientErrors, record.time, nil,
                    "\(minute.clientErrors) of \(minute.messages) messages in a minute answered 4xx")
            }
            minute = (record.time, 0, 0)
        }
        minute.messages += 1
        if (400...499).contains(record.status), record.status != 429 { minute.clientErrors += 1 }
    }

    private mutating func add(_ rule: GuidanceRule, _ time: Int64, _ target: RedactedTarget?, _ detail: String) {
        counts[rule.index] += 1
        if examples[rule.index].count == Self.mostExamples { examples[rule.index].removeFirst() }
        examples[rule.index].append(Violation(time: time, target: target, detail: detail))
    }

    /// With one digit, rounded down.
    private static func seconds(_ nanoseconds: Int64) -> String {
        "\(nanoseconds / second).\(max(0, nanoseconds % second) / (second / 10))"
    }
}

extension GuidanceRule {
    fileprivate var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
