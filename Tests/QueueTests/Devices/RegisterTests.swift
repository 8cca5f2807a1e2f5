import Postgres
import TestSupport
import Testing

/// `todoke.register_device`: what it keeps, moves, retires and revives.
@Suite(.migratedDatabase) struct RegisterTests {
    private static let everything = """
        't', 'u1', 'ios', 'ja-JP', 'Asia/Tokyo', '{news,cats,news}', 'production', 'i1', '4.2', true
        """
    private static let columns =
        "token, user_id, platform, locale, time_zone, channels, installation_id, app_version, allows_notifications"

    @Test func `a new token, the same again, NULL keeps and empty takes away`() throws {
        let fixture = try DeviceFixture()
        let first = try fixture.register(Self.everything)
        #expect(first.isNew)
        let full = "t u1 ios ja-JP Asia/Tokyo {cats,news} i1 4.2 true"
        #expect(try fixture.devices(Self.columns) == [full])
        let again = try fixture.register("'t'")
        #expect(!again.isNew && again.id == first.id)
        #expect(try fixture.devices(Self.columns) == [full])
        try fixture.register("'t', '', '', '', '', '{}', NULL, '', '', false")
        #expect(try fixture.devices(Self.columns) == ["t ∅ ∅ ∅ ∅ {} ∅ ∅ false"])
        try fixture.register(Self.everything)
        #expect(try fixture.devices(Self.columns) == [full])
    }

    @Test func `times are those of the call`() throws {
        let fixture = try DeviceFixture()
        try fixture.register("'t'")
        try fixture.admin.script(
            "UPDATE todoke.devices SET registered_at = now() - interval '1 y', last_seen_at = now() - interval '1 y'")
        let isFresh = "registered_at > now() - interval '1 min', last_seen_at > now() - interval '1 min'"
        #expect(try fixture.devices(isFresh) == ["false false"])
        // Also in an application's transaction that has been open for long.
        try fixture.session.script("BEGIN; SELECT 1")
        let before = try fixture.admin.query("SELECT clock_timestamp()").string(0, 0)
        try fixture.register("'t'")
        try fixture.session.script("COMMIT")
        #expect(try fixture.devices("registered_at > '\(before)', registered_at <= now()") == ["true true"])
    }

    @Test func `a token belongs to the user who registered it last`() throws {
        let fixture = try DeviceFixture()
        let first = try fixture.register("'t', 'u1'")
        let second = try fixture.register("'t', 'u2', channels => '{a}'")
        #expect(second.id == first.id && !second.isNew)
        try fixture.register("'t', 'u3'")
        #expect(try fixture.devices("user_id, channels") == ["u3 {a}"])
    }

    @Test(arguments: ["UNREGISTERED", "REPLACED", "UNREGISTERED_BY_APP"])
    func `registering again revives`(_ reason: String) throws {
        let fixture = try DeviceFixture()
        let first = try fixture.register("'t', 'u1', installation_id => 'i'")
        try fixture.admin.query(
            """
            UPDATE todoke.devices SET invalidated_at = now(), invalid_reason = $1, invalid_evidence = 7,
                registered_at = now() - interval '1 day' WHERE id = $2::bigint
            """, [.text(reason), .int(first.id)])
        let again = try fixture.register("'t', installation_id => 'i'")
        #expect(again.id == first.id && !again.isNew)
        let now = "user_id, invalidated_at, invalid_reason, invalid_evidence, registered_at > now() - interval '1 min'"
        #expect(try fixture.devices(now) == ["u1 ∅ ∅ ∅ true"])
    }

    @Test func `a new token of an installation retires the old one and goes on with what it had`() throws {
        let fixture = try DeviceFixture()
        try fixture.register(Self.everything)
        let second = try fixture.register("'t2', installation_id => 'i1', app_version => '4.3'")
        #expect(second.isNew)
        #expect(
            try fixture.devices("token, user_id, channels, app_version, invalidated_at IS NULL, invalid_reason") == [
                "t u1 {cats,news} 4.2 false REPLACED", "t2 u1 {cats,news} 4.3 true ∅",
            ])
        // The old one is no longer in anybody's way, and comes back when it is registered.
        try fixture.register("'t3', 'u2', installation_id => 'i1'")
        try fixture.register("'t', installation_id => 'i1'")
        #expect(try fixture.devices("token, user_id", where: "invalidated_at IS NULL") == ["t u1"])
    }

    @Test func `a token that moves to another installation`() throws {
        let fixture = try DeviceFixture()
        try fixture.register("'a', 'u1', installation_id => 'i1'")
        try fixture.register("'b', 'u2', installation_id => 'i2'")
        try fixture.register("'a', installation_id => 'i2'")
        #expect(
            try fixture.devices("token, user_id, installation_id, invalid_reason") == ["a u1 i2 ∅", "b u2 i2 REPLACED"])
        // One that was replaced and registers without saying where: where it was.
        try fixture.register("'b'")
        #expect(try fixture.devices("token, invalid_reason") == ["a REPLACED", "b ∅"])
    }

    @Test func `apps do not share tokens or installations`() throws {
        let (one, other) = (try DeviceFixture(), try DeviceFixture())
        try one.register("'t', 'u1', installation_id => 'i'")
        #expect(try other.register("'t', 'u2', installation_id => 'i'").isNew)
        #expect(try one.devices("user_id, invalidated_at") == ["u1 ∅"])
    }

    @Test func `a known token changes without touching an index`() throws {
        let fixture = try DeviceFixture()
        try fixture.register(Self.everything)
        let place = try fixture.devices("d.ctid").first
        try fixture.register(Self.everything)
        #expect(try fixture.devices("d.ctid").first != place)
        try fixture.session.script("BEGIN")
        try fixture.register(Self.everything)
        try fixture.register("'t', time_zone => 'Europe/Paris', channels => '{x}', app_version => '5'")
        let counts = try fixture.session.query(
            """
            SELECT pg_stat_get_xact_tuples_hot_updated(c.oid), pg_stat_get_xact_tuples_updated(c.oid)
            FROM pg_class AS c WHERE c.relname = 'devices' AND c.relnamespace = 'todoke'::regnamespace
            """)
        try fixture.session.script("COMMIT")
        #expect(counts.int(0, 0) == counts.int(0, 1) && counts.int(0, 0) ?? 0 >= 2)
    }

    @Test func `many at once in one statement`() throws {
        let fixture = try DeviceFixture()
        let found = try fixture.session.query(
            """
            SELECT count(*) FILTER (WHERE r.is_new), count(DISTINCT r.device_id)
            FROM generate_series(1, 3000) AS n,
                todoke.register_device($1, 't' || n % 1500, 'u', installation_id => 'i' || n % 1500) AS r
            """, [.text(fixture.app)])
        #expect(found.int(0, 0) == 1500 && found.int(0, 1) == 1500)
    }
}
