import Foundation
import Testing

/// The control API of the built emulator, asked by curl.
@Suite struct ControlTests {
    private static let message = #"{"message":{"token":"a-token-that-is-long-enough"}}"#

    @Test func itTellsWhatClientsDid() throws {
        let emulator = try EmulatorProcess()
        let authorization = try emulator.authorization()
        for _ in 0..<2 { _ = try emulator.send(Self.message, authorization) }
        _ = try emulator.send(#"{"message":{"token":"unregistered-1"}}"#, authorization)
        #expect(try emulator.gauge("accepted") == 2 && emulator.gauge("errors.UNREGISTERED") == 1)
        #expect(try emulator.gauge("tokens.issued") == 1 && emulator.gauge("targets.seen_twice") == 1)
        #expect(try emulator.gauge("second_arrivals") == 1 && emulator.gauge("requests.http2") == 4)
        _ = try emulator.ask("/wait?connections.now<=0")
        #expect(try emulator.gauge("connections.total") == 4 && emulator.gauge("streams_per_connection.peak") == 1)

        let refused = try emulator.ask("/messages?outcome=refused")
        let messages = try #require(refused.json["messages"] as? [[String: Any]])
        #expect(messages.count == 1 && messages[0]["code"] as? String == "UNREGISTERED")
        #expect(!refused.body.contains("unregistered-1"))
        let ofTarget = try emulator.ask("/messages?target=a-token-that-is-long-enough&last=1")
        #expect((ofTarget.json["messages"] as? [Any])?.count == 1 && !ofTarget.body.contains("long-enough"))
        #expect((try emulator.ask("/connections").json["ended"] as? [Any])?.count == 4)

        #expect(try emulator.ask("/reset?only=counts", "-X", "POST").status == 200)
        #expect(try emulator.gauge("accepted") == 0 && emulator.gauge("connections.total") == 0)
        #expect(emulator.stop() == 0)
    }

    @Test func itGivesTokensLikeTheMetadataServer() throws {
        let emulator = try EmulatorProcess()
        let path = "/computeMetadata/v1/instance/service-accounts/default/token?scopes=x"
        #expect(try emulator.ask(path).status == 403)
        let answer = try emulator.ask(path, "--header", "Metadata-Flavor: Google", "--include")
        #expect(answer.status == 200 && answer.body.contains("Metadata-Flavor: Google"))
        let token = try #require(
            emulator.ask(path, "--header", "Metadata-Flavor: Google").json["access_token"] as? String)
        #expect(try emulator.send(Self.message, "Authorization: Bearer \(token)").status == 200)
        #expect(try emulator.gauge("tokens.issued") == 2)
        // Clients look at the root first.
        #expect(
            try emulator.ask("/", "--header", "Metadata-Flavor: Google", "--include").body.contains("Metadata-Flavor"))
    }

    @Test func aRetryAfterAFinalAnswerIsAViolation() throws {
        let emulator = try EmulatorProcess()
        let authorization = try emulator.authorization()
        for _ in 0..<3 { _ = try emulator.send(#"{"message":{"token":"unregistered-1"}}"#, authorization) }
        let rules = try #require(try emulator.ask("/violations").json["rules"] as? [[String: Any]])
        let rule = try #require(rules.first { $0["name"] as? String == "retry_after_final" })
        #expect(rule["count"] as? Int == 2 && (rule["examples"] as? [Any])?.count == 2)
        #expect((rule["source"] as? String)?.hasPrefix("https://firebase.google.com/docs/") == true)
    }

    @Test func twoHundredWaitersAreWokenByTheEvent() throws {
        let emulator = try EmulatorProcess()
        let authorization = try emulator.authorization()
        let waiters = Process()
        waiters.executableURL = URL(filePath: "/usr/bin/curl")
        let output = Pipe()
        waiters.standardOutput = output
        waiters.arguments = [
            "--silent", "--noproxy", "*", "--parallel", "--parallel-max", "200", "--parallel-immediate",
            "--output", "/dev/null", "--write-out", "%{http_code}\n",
            "\(emulator.control)/wait?accepted=1&timeout=50&refused<=[1-200]",
        ]
        try waiters.run()
        // Whether they are all there already does not matter: who comes later is answered at once.
        #expect(try emulator.send(Self.message, authorization).status == 200)
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        waiters.waitUntilExit()
        let codes = String(decoding: data, as: UTF8.self).split(separator: "\n")
        #expect(codes.count == 200 && codes.allSatisfy { $0 == "200" })
    }

    @Test func aWaitThatIsNotMetSaysWhatIsMissing() throws {
        let emulator = try EmulatorProcess()
        let answer = try emulator.ask("/wait?accepted=1&refused<=0&timeout=0")
        #expect(answer.status == 504 && answer.json["reached"] as? Bool == false)
        #expect(answer.json["error"] as? String == "not reached in time: accepted>=1")
        #expect((answer.json["values"] as? [String: Int]) == ["accepted": 0, "refused": 0])
    }

    @Test(arguments: [
        ("/nope", 404, "there is no /nope"), ("/wait", 400, "there is nothing to wait for"),
        ("/wait?x=1", 400, "there is no number \"x\" to wait for"),
        ("/wait?accepted=many", 400, "accepted must be compared with a whole number, not \"many\""),
        ("/wait?accepted=1&timeout=x", 400, "timeout must be a whole number from 0 to 3600, not \"x\""),
        ("/messages?last=0", 400, "last must be a whole number from 1 to 1000, not \"0\""),
        ("/messages?outcome=odd", 400, "there is no outcome \"odd\""),
        ("/messages?x=1", 400, "/messages does not know \"x\""),
        ("/reset", 405, "/reset does not take GET"),
    ])
    func mistakesAreExplained(_ path: String, _ status: Int, _ error: String) throws {
        let emulator = try EmulatorProcess()
        let answer = try emulator.ask(path)
        #expect(answer.status == status && answer.json["error"] as? String == error, "\(answer.body)")
        #expect((answer.json["remedy"] as? String)?.isEmpty == false)
    }

    @Test func everyRouteIsListedWithAnExampleThatWorks() throws {
        let emulator = try EmulatorProcess()
        let routes = try #require(try emulator.ask("/").json["routes"] as? [[String: String]])
        #expect(routes.count >= 20)
        for route in routes {
            let example = try #require(route["example"])
            let run = try Command.run(
                "/bin/sh", ["-c", example.replacing("accepted=1000", with: "accepted=0") + " --noproxy '*'"])
            #expect(
                run.exitCode == 0 && !run.output.isEmpty && !run.output.contains("remedy\":"),
                "\(example): \(run.output)")
        }
    }

    @Test func theScenarioIsChangedWhileItRuns() throws {
        let emulator = try EmulatorProcess()
        let authorization = try emulator.authorization()
        let put = try emulator.ask(
            "/scenario", "-X", "PUT", "-d",
            #"{"rules":[{"name":"storm","match":{"every":2},"effect":{"error":"UNAVAILABLE"}}]}"#)
        #expect(put.status == 200, "\(put.body)")
        let codes = try (0..<4).map { _ in try emulator.send(Self.message, authorization).status }
        #expect(codes == [200, 503, 200, 503])
        #expect(try emulator.gauge("errors.UNAVAILABLE") == 2 && emulator.gauge("violations.early_retry") == 1)
        let rules = try #require(try emulator.ask("/stats").json["rules"] as? [[String: Any]])
        #expect(rules.first?["name"] as? String == "storm" && rules.first?["hits"] as? Int == 2)

        #expect(try emulator.ask("/scenario", "-X", "DELETE").status == 200)
        #expect(try emulator.send(Self.message, authorization).status == 200)
        #expect(try emulator.ask("/targets/a-*", "-X", "PUT", "-d", #"{"is":"unregistered"}"#).status == 200)
        #expect(try emulator.send(Self.message, authorization).fcmCode == "UNREGISTERED")
        #expect((try emulator.ask("/scenario").json["targets"] as? [Any])?.count == 1)
        #expect(try emulator.ask("/targets/a-*", "-X", "DELETE").status == 200)
        #expect(try emulator.ask("/targets/a-*", "-X", "DELETE").status == 404)
        #expect(try emulator.send(Self.message, authorization).status == 200)

        #expect(try emulator.ask("/quota", "-X", "PUT", "-d", #"{"messages_per_minute":1,"burst":1}"#).status == 200)
        #expect(try emulator.send(Self.message, authorization).status == 200)
        #expect(try emulator.gauge("quota_left.demo-project") == 0)
        #expect(try emulator.send(Self.message, authorization).fcmCode == "QUOTA_EXCEEDED")
        #expect(try emulator.ask("/reset?only=quota", "-X", "POST").status == 200)
        #expect(try emulator.send(Self.message, authorization).status == 200)

        let wrong = try emulator.ask("/scenario", "-X", "PUT", "-d", #"{"rules":[{"effect":{"errr":1}}]}"#)
        #expect(
            wrong.status == 400 && (wrong.json["error"] as? String)?.hasPrefix("rules[0].effect") == true,
            "\(wrong.body)")
        #expect(try emulator.ask("/quota").json["burst"] as? Int == 1)
    }

    @Test func slowAndLyingClientsDoNotHoldUpOthers() throws {
        let emulator = try EmulatorProcess()
        let port = try #require(URL(string: emulator.control)?.port)
        let slow = try (0..<20).map { _ in try RawClient(port: port) }
        for client in slow {
            client.send("POST /reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{")
        }
        let waiter = try RawClient(port: port)
        waiter.send("GET /wait?accepted=1&timeout=3600 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let lying = try RawClient(port: port)
        lying.send("GET /\0 HTTP/9.9\r\n\u{1}: \r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n")
        #expect(try emulator.ask("/stats").status == 200)
        waiter.close()
        for client in slow { client.close() }
        #expect(try emulator.send(Self.message, emulator.authorization()).status == 200)
        #expect(try emulator.ask("/wait?accepted=1").status == 200)
        #expect(emulator.stop() == 0)
    }

    @Test func onlyLoopbackIsListenedOn() throws {
        for address in ["0.0.0.0:0", "192.168.1.1:80", "example.com:80", "127.0.0.1", "127.1:99999"] {
            let run = try Command.run(
                EmulatorProcess.executable.path, ["--directory", "/tmp/nowhere", "--control", address])
            #expect(run.exitCode == 64 && run.errors.contains("--control must be"), "\(address): \(run.errors)")
        }
    }

    @Test func theAcceptedLogCanBeSampled() throws {
        let emulator = try EmulatorProcess("--accepted-log", "3")
        let authorization = try emulator.authorization()
        for number in 1...7 { _ = try emulator.send(#"{"message":{"token":"t\#(number)"}}"#, authorization) }
        let tokens = try emulator.acceptedLines().compactMap { $0.firstMatch(of: /t[0-9]"/)?.output }
        #expect(tokens == ["t1\"", "t4\"", "t7\""])
    }
}
