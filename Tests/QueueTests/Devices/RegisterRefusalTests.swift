import Postgres
import TestSupport
import Testing

/// What the registry's functions refuse, and how they say it.
@Suite(.migratedDatabase) struct RegisterRefusalTests {
    @Test(arguments: [
        ("NULL", "token is empty"), ("''", "token is empty"), ("repeat('x', 2001)", "longer than 2000 bytes"),
        (#"E't\n'"#, "white space"), ("'a b'", "white space"), ("'ｔ'", "white space"),
        ("'t', repeat('u', 501)", "user_id"), ("'t', repeat('u', 10000000)", "user_id"),
        ("'t', platform => 'iOS'", "platform"), ("'t', locale => 'Japanese (Japan)'", "locale"),
        ("'t', locale => 'ja' || repeat('-x', 60)", "locale"), (#"'t', locale => E'ja.\n'"#, "locale"),
        ("'t', time_zone => 'JST-9'", "time_zone"), ("'t', time_zone => 'JST'", "time_zone"),
        ("'t', time_zone => 'Asia/Nowhere'", "time_zone"), ("'t', time_zone => 'Foo/Bar5'", "time_zone"),
        ("'t', time_zone => '+09:00'", "time_zone"), ("'t', time_zone => repeat('A', 100)", "time_zone"),
        ("'t', time_zone => '../../etc/passwd'", "time_zone"),
        ("'t', channels => '{a,NULL}'", "channels"), ("'t', channels => '{\"\"}'", "channels"),
        ("'t', channels => '{{a},{b}}'", "list of lists"), (#"'t', channels => ARRAY[E'a\nb']"#, "channels"),
        ("'t', channels => ARRAY[repeat('c', 201)]", "channels"),
        ("'t', channels => ARRAY(SELECT n::text FROM generate_series(1, 1001) AS n)", "1000 names"),
        ("'t', environment => 'sandbox'", "environment is 'sandbox', and app "),
        ("'t', environment => 'prod'", "environment is 'prod', and app "),
        ("'t', installation_id => repeat('i', 501)", "installation_id"),
        ("'t', app_version => repeat('1', 101)", "app_version"),
    ])
    func `a device that cannot be one`(_ arguments: String, _ part: String) throws {
        let fixture = try DeviceFixture()
        let error = try fixture.refusal("register_device", arguments)
        #expect(error.message.contains(part), "\(error.message)")
        #expect(error.sqlState?.rawValue == "22023" && error.hint?.isEmpty == false)
        #expect(error.message.utf8.count < 200)
        #expect(try fixture.devices("token") == [])
    }

    @Test func `a token is not quoted`() throws {
        let fixture = try DeviceFixture()
        let error = try fixture.refusal("register_device", "'secret token'")
        #expect(!"\(error.message) \(error.hint ?? "")".contains("secret"))
    }

    @Test(arguments: [
        "register_device": "'t'", "unregister_device": "'t'", "bind_user": "'t', 'u'", "unbind_user": "'t'",
        "subscribe": "'t', 'c'", "unsubscribe": "'t', 'c'", "subscribe_user": "'u', 'c'",
        "unsubscribe_user": "'u', 'c'",
    ])
    func `an app that is not there`(_ function: String, _ arguments: String) throws {
        let session = try DeviceFixture.session()
        for app in ["'it''s not there'", "NULL"] {
            let error = try #require(throws: PostgresError.self) {
                try session.query("SELECT todoke.\(function)(\(app), \(arguments))")
            }
            #expect(error.message.hasPrefix("there is no app ") && error.sqlState?.rawValue == "P0002")
            #expect(error.hint?.hasPrefix("INSERT INTO todoke.apps") == true)
        }
    }

    @Test(arguments: [
        ("bind_user", "'t', ''", "user_id"), ("bind_user", "'t', NULL", "user_id"),
        ("bind_user", "'t', repeat('u', 501)", "user_id"), ("subscribe", "'t', ''", "channel"),
        ("subscribe", "'t', NULL", "channel"), (#"subscribe"#, #"'t', E'a\tb'"#, "channel"),
        ("subscribe_user", "'u', repeat('c', 201)", "channel"),
    ])
    func `users and channels that cannot be`(_ function: String, _ arguments: String, _ part: String) throws {
        let error = try DeviceFixture().refusal(function, arguments)
        #expect(error.message.hasPrefix(part) && error.sqlState?.rawValue == "22023" && error.hint != nil)
    }

    @Test func `more channels than a device may have`() throws {
        let fixture = try DeviceFixture()
        try fixture.register("'t', 'u', channels => ARRAY(SELECT n::text FROM generate_series(1, 1000) AS n)")
        #expect(try fixture.call("subscribe", "'t', '1'") == "f")
        #expect(try fixture.refusal("subscribe", "'t', 'new'").message.contains("1000 channels"))
        #expect(try fixture.refusal("subscribe_user", "'u', 'new'").message.contains("1000 channels"))
        #expect(try fixture.devices("cardinality(channels)") == ["1000"])
    }

    @Test(arguments: [
        "UTC", "GMT", "Asia/Tokyo", "America/Argentina/ComodRivadavia", "America/Port-au-Prince", "Etc/GMT-14",
        "EST5EDT",
        "Africa/Dar_es_Salaam", "Europe/Kiev",
    ])
    func `zones that devices report`(_ zone: String) throws {
        let fixture = try DeviceFixture()
        try fixture.register("'t', time_zone => '\(zone)'")
        #expect(try fixture.devices("time_zone") == [zone])
    }

    @Test(arguments: ["ja", "pt-BR", "pt_BR.UTF-8", "zh-Hant-TW", "en_JP@calendar=japanese;x", "es-419"])
    func `locales that devices report`(_ locale: String) throws {
        let fixture = try DeviceFixture()
        try fixture.register("'t', locale => '\(locale)'")
        #expect(try fixture.devices("locale") == [locale])
    }

    @Test func `a sandbox app takes sandbox tokens`() throws {
        let fixture = try DeviceFixture(environment: "sandbox")
        try fixture.register("'t', environment => 'sandbox'")
        let error = try fixture.refusal("register_device", "'t', environment => 'production'")
        #expect(error.message.contains("'production'") && error.message.hasSuffix("is sandbox"))
    }
}
