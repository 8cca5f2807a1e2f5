import Postgres
import TestSupport
import Testing

@testable import Queue

/// Events are given up in the order in which they came, in bounded steps.
@Suite(.migratedDatabase) struct OldEventTests {
    private let fixture: EventFixture

    init() throws { fixture = try EventFixture() }

    /// An old notification that is not settled keeps its events, and does not keep others from being given up.
    @Test func whatIsNotSettledDoesNotEndTheWalk() throws {
        try fixture.admin.script(
            """
            INSERT INTO todoke.notifications (app, notification_id, day, created_at, closes_at, settled_at, settled_summary)
            SELECT \(fixture.appID), name, '2020-01-01', '2020-01-01', '2020-01-08', at, CASE WHEN at IS NOT NULL THEN '{}'::json END
            FROM (VALUES ('open', NULL::timestamptz), ('over', '2020-01-09')) AS n (name, at);
            INSERT INTO todoke.events (app, notification_id, kind, subject)
            SELECT \(fixture.appID), name, 'opened', 'u:' || g
            FROM generate_series(1, 5) AS g, (VALUES (1, 'open'), (2, 'over'), (3, 'n')) AS n (place, name) ORDER BY place, g;
            """)
        var after = try fixture.value("SELECT min(id) - 1 FROM todoke.events WHERE app = $1::int")
        var steps: [String] = []
        while let from = after, steps.count < 20 {
            let step = try fixture.admin.query(
                "SELECT deleted, next FROM todoke.settle_events('2020-02-01', $1::bigint, 2)", [.text(from)])
            steps.append(step.string(0, 0))
            after = step.optionalString(0, 1)
        }
        // Two and two of those that stay, one of each, then nothing old any more.
        #expect(steps == ["0", "0", "5", "0"])
        let left = try fixture.value(
            """
            SELECT string_agg(notification_id || ' ' || events, ', ' ORDER BY notification_id) FROM (
                SELECT notification_id, count(*) AS events FROM todoke.events WHERE app = $1::int GROUP BY 1) AS e
            """)
        #expect(left == "n 5, open 5")
    }
}
