import Postgres
import Queue

/// Walks over what nobody can claim, a step at a time, so that a claim never waits for more than one of them.
final class Housekeeper {
    private let events: EventQueue
    /// Where the walk over a place goes on at the next look.
    private var floors: [Work.Due: Claim.Floor] = [:]
    /// The place of the last step, so that a backlog in one does not keep the walk from the others.
    private var last: Work.Due?
    private var stepsLeft = 0
    private var expired = 0

    /// Sends one statement, to wait in line like all others.
    var send: (DatabaseLane.Statement) -> Void = { _ in }

    init(events: EventQueue) { self.events = events }

    /// One look; its end is ``SenderEvent/houseKept(expired:)``.
    func keep(apps: [Int], days: [Day], isThorough: Bool) {
        expired = 0
        stepsLeft = Housekeeping.statementsPerLook
        if isThorough {
            perform(Housekeeping.partitionsStatement) { [unowned self] _ in
                perform(Housekeeping.sendersStatement) { [unowned self] _ in look(apps, days) }
            }
        } else {
            look(apps, days)
        }
    }

    private func look(_ apps: [Int], _ days: [Day]) {
        guard !apps.isEmpty, !days.isEmpty else { return end() }
        perform(Work.dueStatement(apps: apps, days: days)) { [unowned self] result in
            let places = Work.decodeDue(result).due
            floors = floors.filter { places.contains($0.key) }
            walk(Housekeeping.order(places, after: last)[...])
        }
    }

    private func walk(_ places: ArraySlice<Work.Due>) {
        guard let place = places.first, stepsLeft > 0 else { return end() }
        stepsLeft -= 1
        last = place
        perform(Housekeeping.statement(place, after: floors[place]), format: Housekeeping.format) {
            [unowned self] result in
            let step = Housekeeping.decode(result)
            expired += step.expired
            floors[place] = step.next
            walk(step.next == nil ? places.dropFirst() : places)
        }
    }

    private func end() { events.append(.houseKept(expired: expired)) }

    private func perform(
        _ sql: String, format: ResultFormat = .text, _ completion: @escaping (QueryResult) -> Void
    ) {
        send(.init(kind: .housekeeping, sql: sql, format: format, completion: completion))
    }
}
