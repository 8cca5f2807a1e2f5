package import Postgres

extension Claim {
    /// The columns of ``statement(sender:leaseSeconds:)`` in order.
    ///
    /// `isSending` is false for a row that the claim ended as expired, and NULL for one of a cancelled notification.
    private enum Column {
        static let id = 0, claimNumber = 1, attempts = 2, isSending = 3, dueAt = 4, expiresAt = 5, triedAt = 6, now = 7
        static let isAtMostOnce = 8, isValidateOnly = 9, ttlStart = 10, ttlCount = 11, payload = 12
    }

    /// Reads the statement's result, asked for in ``format``.
    package func decode(_ result: QueryResult) -> Answer {
        var messages: [ClaimedMessage] = []
        var withoutPayload: [MessageKey] = []
        var (expired, cancelled) = (0, 0)
        var floor: Floor?
        messages.reserveCapacity(result.rowCount)
        for row in 0..<result.rowCount {
            guard let id = result.int(row, Column.id), let claimNumber = result.int(row, Column.claimNumber),
                let dueAt = result.int(row, Column.dueAt), let now = result.int(row, Column.now)
            else { continue }
            // Rows come in no particular order.
            if floor.map({ ($0.dueAt, $0.id) < (dueAt, id) }) ?? true { floor = Floor(dueAt: dueAt, id: id) }
            let isSending = result.bool(row, Column.isSending)
            guard isSending == true else {
                if isSending == nil { cancelled += 1 } else { expired += 1 }
                continue
            }
            let key = MessageKey(id: id, day: day, claimNumber: claimNumber, app: app)
            guard !result.isNull(row, Column.payload) else {
                withoutPayload.append(key)
                continue
            }
            messages.append(
                ClaimedMessage(
                    key: key, app: app, attempts: result.int(row, Column.attempts) ?? 0,
                    expiresInMilliseconds: result.int(row, Column.expiresAt).flatMap {
                        Self.milliseconds(until: $0, now)
                    },
                    ageInMilliseconds: Self.milliseconds(since: result.int(row, Column.triedAt) ?? dueAt, now),
                    claimedAt: now, isAtMostOnce: result.bool(row, Column.isAtMostOnce) ?? false,
                    isValidateOnly: result.bool(row, Column.isValidateOnly) ?? false,
                    ttlDigits: result.int(row, Column.ttlStart).flatMap { start in
                        result.int(row, Column.ttlCount).map { start..<(start + max(0, $0)) }
                    },
                    payload: result.bytes(row, Column.payload)))
        }
        // Endless times have no place on a calendar to go on from.
        if floor?.dueAt == .min { floor = nil }
        return Answer(
            messages: messages, withoutPayload: withoutPayload, taken: result.rowCount, expired: expired,
            cancelled: cancelled, floor: floor)
    }

    /// Rounded up; `nil` for `infinity`.
    ///
    /// Times are microseconds since 2000.
    private static func milliseconds(until time: Int, _ now: Int) -> Int? {
        guard time != .max else { return nil }
        let (left, overflow) = time.subtractingReportingOverflow(now)
        // What overflows lies before now: `-infinity`.
        return overflow ? 0 : left > 0 ? (left - 1) / 1_000 + 1 : left / 1_000
    }

    private static func milliseconds(since time: Int, _ now: Int) -> Int {
        let (age, overflow) = now.subtractingReportingOverflow(time)
        return overflow ? .max / 1_000 : max(0, age / 1_000)
    }
}
