import Postgres
import TestSupport
import Testing

/// Log-in and log-out, channels and unregistering.
@Suite(.migratedDatabase) struct DeviceChangeTests {
    @Test func `two users of one device`() throws {
        let fixture = try DeviceFixture()
        try fixture.register("'t', channels => '{a}'")
        #expect(try fixture.call("bind_user", "'t', 'u1'") == "t")
        #expect(try fixture.call("bind_user", "'t', 'u1'") == "f")
        #expect(try fixture.call("bind_user", "'t', 'u2'") == "t")
        // The first one's log-out arrives late.
        #expect(try fixture.call("unbind_user", "'t', 'u1'") == "f")
        #expect(try fixture.devices("user_id") == ["u2"])
        #expect(try fixture.call("unbind_user", "'t'") == "t")
        #expect(try fixture.call("unbind_user", "'t'") == "f")
        #expect(try fixture.devices("user_id, channels") == ["∅ {a}"])
    }

    @Test func `channels of a device`() throws {
        let fixture = try DeviceFixture()
        try fixture.register("'t'")
        #expect(try fixture.call("subscribe", "'t', 'a,\"b\\'") == "t")
        #expect(try fixture.call("subscribe", "'t', 'a,\"b\\'") == "f")
        #expect(try fixture.call("subscribe", "'t', 'c'") == "t")
        #expect(try fixture.devices("channels[1], channels[2]") == ["a,\"b\\ c"])
        #expect(try fixture.call("unsubscribe", "'t', 'a,\"b\\'") == "t")
        #expect(try fixture.call("unsubscribe", "'t', 'never'") == "f")
        #expect(try fixture.call("unsubscribe", "'t', NULL") == "f")
        #expect(try fixture.devices("channels") == ["{c}"])
    }

    @Test func `channels of all devices of a user`() throws {
        let fixture = try DeviceFixture()
        for token in ["a", "b"] { try fixture.register("'\(token)', 'u1'") }
        try fixture.register("'c', 'u2', channels => '{x}'")
        #expect(try fixture.call("subscribe", "'b', 'x'") == "t")
        #expect(try fixture.call("subscribe_user", "'u1', 'x'") == "1")
        #expect(try fixture.call("subscribe_user", "'u1', 'x'") == "0")
        #expect(try fixture.call("subscribe_user", "NULL, 'x'") == "0")
        #expect(try fixture.call("unsubscribe_user", "'u1', 'x'") == "2")
        #expect(try fixture.devices("token, channels") == ["a {}", "b {}", "c {x}"])
    }

    @Test func `unregistered is left alone until it registers again`() throws {
        let fixture = try DeviceFixture()
        try fixture.register("'t', 'u'")
        #expect(try fixture.call("unregister_device", "'t'") == "t")
        #expect(try fixture.call("unregister_device", "'t'") == "f")
        #expect(try fixture.devices("invalidated_at IS NOT NULL, invalid_reason") == ["true UNREGISTERED_BY_APP"])
        #expect(try fixture.call("bind_user", "'t', 'v'") == "t")
        #expect(try fixture.devices("invalid_reason, user_id") == ["UNREGISTERED_BY_APP v"])
        try fixture.register("'t'")
        #expect(try fixture.devices("invalidated_at, user_id") == ["∅ v"])
    }

    @Test func `a token that nobody registered`() throws {
        let fixture = try DeviceFixture()
        let calls = ["unregister_device": "", "bind_user": ", 'u'", "unbind_user": "", "subscribe": ", 'c'"]
        for (function, more) in calls { #expect(try fixture.call(function, "'x'\(more)") == "f") }
        for token in ["''", "NULL", "repeat('x', 10000)"] {
            #expect(try fixture.call("unregister_device", token) == "f")
        }
        #expect(try fixture.devices("token") == [])
    }

    @Test func `ten thousand devices of one user`() throws {
        let fixture = try DeviceFixture()
        try fixture.admin.query(
            """
            INSERT INTO todoke.devices (app, token, user_id)
            SELECT a.id, 't' || n, 'u' FROM todoke.apps AS a, generate_series(1, 10000) AS n WHERE a.name = $1
            """, [.text(fixture.app)])
        #expect(try fixture.call("subscribe_user", "'u', 'x'") == "10000")
        #expect(try fixture.call("unsubscribe_user", "'u', 'x'") == "10000")
    }
}
