import Postgres
import TestSupport
import Testing

/// A session keeps the plans it made while the registry was empty; they have to be right when it is not.
@Suite(.migratedDatabase) struct DevicePlanTests {
    @Test func `each call looks at a few rows, however many have come since its plan was made`() throws {
        let fixture = try DeviceFixture()
        try fixture.admin.script("ALTER TABLE todoke.devices SET (autovacuum_enabled = off)")
        let calls = [
            "register_device($1, 't' || n, 'u' || n, installation_id => 'i' || n)",
            "register_device($1, 't' || n, 'u' || n, installation_id => 'i' || n + 1)",
            "register_device($1, 'new' || n, installation_id => 'i' || n + 100)", "register_device($1, 'other' || n)",
            "subscribe($1, 't' || n, 'c')", "unsubscribe($1, 't' || n, 'c')", "subscribe_user($1, 'u' || n, 'c')",
            "unsubscribe_user($1, 'u' || n, 'c')", "bind_user($1, 't' || n, 'u')", "unbind_user($1, 't' || n)",
            "unregister_device($1, 't' || n)",
        ]
        // Often enough for a plan that is kept.
        for call in calls {
            try fixture.session.query(
                "SELECT todoke.\(call) FROM generate_series(900001, 900012) AS n", [.text(fixture.app)])
        }
        try fixture.admin.query(
            """
            INSERT INTO todoke.devices (app, token, user_id, installation_id)
            SELECT a.id, 't' || n, 'u' || n, 'i' || n FROM todoke.apps AS a, generate_series(1, 20000) AS n WHERE a.name = $1
            """, [.text(fixture.app)])
        for call in calls {
            let before = try rowsRead(fixture.session)
            try fixture.session.query("SELECT todoke.\(call) FROM generate_series(1, 20) AS n", [.text(fixture.app)])
            let read = try rowsRead(fixture.session) - before
            // Statistics of before may have been handed on in between: then there is less to see.
            #expect(read <= 20 * 12, "\(call): \(read)")
        }
    }

    private func rowsRead(_ connection: Connection) throws -> Int {
        try connection.query(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'devices'"
        ).int(0, 0) ?? 0
    }
}
