import Postgres
import TestSupport
import Testing

/// Who may call what.
@Suite(.migratedDatabase) struct DeviceRightsTests {
    private static let calls = [
        "register_device('r', 't')", "unregister_device('r', 't')", "bind_user('r', 't', 'u')", "unbind_user('r', 't')",
        "subscribe('r', 't', 'c')", "unsubscribe('r', 't', 'c')", "subscribe_user('r', 'u', 'c')",
        "unsubscribe_user('r', 'u', 'c')",
    ]

    private func state(_ role: String, _ sql: String) throws -> SQLState? {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script(
            "BEGIN; INSERT INTO todoke.apps (name, project_id) VALUES ('r', 'p'); SET LOCAL ROLE \(role)")
        do throws(PostgresError) {
            try connection.query(sql)
            return nil
        } catch { return error.sqlState }
    }

    @Test(arguments: calls) func `applications may call, others may not`(_ call: String) throws {
        #expect(try state("todoke_app", "SELECT todoke.\(call)") == nil)
        for role in ["todoke_producer", "todoke_sender", "todoke_reader", "pg_monitor"] {
            #expect(try state(role, "SELECT todoke.\(call)") == .insufficientPrivilege, "\(role)")
        }
    }

    @Test(arguments: [
        "SELECT * FROM todoke.devices", "INSERT INTO todoke.devices (app, token) VALUES (1, 't')",
        "UPDATE todoke.devices SET user_id = 'u'", "DELETE FROM todoke.devices", "SELECT todoke.registry_app('r')",
        "SELECT todoke.device_fault('t', '', '', '', '{}', '', '')", "SELECT todoke.is_time_zone('UTC')",
        "SELECT todoke.checked_channel('c')",
    ])
    func `an application has functions and no table`(_ sql: String) throws {
        #expect(try state("todoke_app", sql) == .insufficientPrivilege)
    }

    @Test func `an application's own objects do not get in between`() throws {
        let fixture = try DeviceFixture()
        let admin = fixture.admin
        try admin.script(
            """
            CREATE SCHEMA mine; GRANT ALL ON SCHEMA mine TO todoke_app;
            CREATE FUNCTION mine.octet_length(text) RETURNS int LANGUAGE sql AS 'SELECT 1/0';
            CREATE FUNCTION mine.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz';
            """)
        try fixture.session.script("SET search_path = mine, pg_catalog")
        try fixture.register("'t', 'u', time_zone => 'UTC', channels => '{a,b}'")
        #expect(try fixture.devices("user_id") == ["u"])
    }
}
