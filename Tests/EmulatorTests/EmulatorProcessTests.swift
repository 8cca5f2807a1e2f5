import Foundation
import Testing

/// The built emulator, talked to by Debian's curl.
@Suite struct EmulatorProcessTests {
    @Test func aMessageIsAcceptedAndLoggedBeforeItsAnswer() throws {
        let emulator = try EmulatorProcess()
        let authorization = try emulator.authorization()
        let answer = try emulator.send(#"{"message":{"token":"t-1","data":{"k":"v"}}}"#, authorization)
        #expect(answer.status == 200 && answer.httpVersion == "2")
        let name = try #require(answer.json["name"] as? String)
        #expect(name.wholeMatch(of: /projects\/demo-project\/messages\/0:[0-9]{16}%[0-9a-f]{16}/) != nil)
        let line = try #require(try emulator.acceptedLines().first)
        #expect(
            line.wholeMatch(
                of:
                    /\{"time":"[-0-9]{10}T[:.0-9]{15}Z","project":"demo-project","message":\{"token":"t-1","data":\{"k":"v"\}\}\}/
            ) != nil, "\(line)")
        #expect(emulator.stop() == 0)
    }

    @Test func hardTextArrivesByteForByte() throws {
        let emulator = try EmulatorProcess()
        let authorization = try emulator.authorization()
        let text = "👩‍👩‍👧‍👦 e\u{301} שלום \u{2028} 𠮷 \\\" \\\\ \\n \\u00e9 \u{7F}"
        let message = #"{"token":"t","notification":{"title":"\#(text)"}}"#
        #expect(try emulator.send(#"{"message":\#(message)}"#, authorization).status == 200)
        #expect(try emulator.send("{\"message\" :\n{\"token\":\r\n\"t\"\t}\n}", authorization).status == 200)
        let lines = try emulator.acceptedLines()
        #expect(lines.count == 2)
        #expect(lines.first?.utf8.elementsEqual(Array(lines[0].utf8)) == true)
        #expect(lines.first.map { Array($0.utf8).suffix(message.utf8.count + 1) } == Array((message + "}").utf8)[...])
        #expect(lines.last?.hasSuffix("\"message\":{\"token\":  \"t\"\t}}") == true)
    }

    @Test func aValidatedMessageIsNotAccepted() throws {
        let emulator = try EmulatorProcess()
        let answer = try emulator.send(
            #"{"validate_only":true,"message":{"token":"t"}}"#, emulator.authorization())
        #expect(answer.json["name"] as? String == "projects/demo-project/messages/fake_message_id")
        #expect(try emulator.acceptedLines().isEmpty)
    }

    @Test func whatIsWrongGetsTheServersError() throws {
        let emulator = try EmulatorProcess("--project=demo-project", "--listen", "127.0.0.1:0")
        let authorization = try emulator.authorization()
        let valid = #"{"message":{"token":"t"}}"#

        let anonymous = try emulator.curl(emulator.sendURL, "--data", valid)
        #expect(anonymous.status == 401 && anonymous.rpcStatus == "UNAUTHENTICATED")
        #expect(anonymous.body.contains("CREDENTIALS_MISSING"))
        let unknown = try emulator.send(valid, "authorization: Bearer ya29.other")
        #expect(unknown.status == 401 && unknown.fcmCode == nil)
        let other = try emulator.curl(
            "\(emulator.endpoint)/v1/projects/other/messages:send", "-H", authorization, "--data", valid)
        #expect(other.status == 403 && other.rpcStatus == "PERMISSION_DENIED" && other.fcmCode == nil)

        let number = try emulator.send(#"{"message":{"token":"t","data":{"k":12}}}"#, authorization)
        #expect(number.status == 400 && number.rpcStatus == "INVALID_ARGUMENT")
        #expect(number.fcmCode == "INVALID_ARGUMENT")
        #expect(number.message == "Invalid value at 'message.data[0].value' (TYPE_STRING), 12")
        #expect(number.violations == ["message.data[0].value"])
        let name = try emulator.send(#"{"message":{"token":"t","x":12}}"#, authorization)
        #expect(
            name.message == "Invalid JSON payload received. Unknown name \"x\" at 'message': Cannot find field.")
        #expect(try emulator.send("{}", authorization).message == "Recipient of the message is not set.")
        #expect(try emulator.send("nonsense", authorization).status == 400)

        let gone = try emulator.send(#"{"message":{"token":"unregistered-1"}}"#, authorization)
        #expect(gone.status == 404 && gone.rpcStatus == "NOT_FOUND" && gone.fcmCode == "UNREGISTERED")
        let page = try emulator.curl("\(emulator.endpoint)/v1/<x>")
        #expect(page.status == 404 && page.body.contains("<code>/v1/"))
        #expect(try emulator.curl(emulator.sendURL).status == 405)
        #expect(try emulator.acceptedLines().isEmpty)
    }

    @Test func aTooLongBodyIsRefusedWhole() throws {
        let emulator = try EmulatorProcess()
        let file = emulator.directory.appending(path: "long.json")
        try Data(repeating: UInt8(ascii: " "), count: 300_000).write(to: file)
        let answer = try emulator.send("@\(file.path)", emulator.authorization())
        #expect(answer.status == 400 && answer.message == "Request payload size exceeds the limit: 131072 bytes.")
    }

    @Test func anExpiredTokenIsSaidToBeExpired() throws {
        let emulator = try EmulatorProcess("--token-lifetime", "0")
        let answer = try emulator.send(#"{"message":{"token":"t"}}"#, emulator.authorization())
        #expect(answer.status == 401 && answer.body.contains("ACCESS_TOKEN_EXPIRED"))
    }

    @Test func answersWaitForTheLatency() throws {
        let emulator = try EmulatorProcess("--latency=300", "--no-accepted-log")
        let authorization = try emulator.authorization()
        let start = ContinuousClock.now
        let run = try emulator.curl(
            "--parallel", "--parallel-max", "50", "--parallel-immediate", "-H", authorization, "--data",
            #"{"message":{"token":"t"}}"#, "--output", "/dev/null", emulator.sendURL + "?[1-50]")
        let elapsed = ContinuousClock.now - start
        #expect(run.exitCode == 0)
        // Fifty one after the other would take 15 s.
        #expect(elapsed > .milliseconds(300) && elapsed < .seconds(8))
        #expect(!FileManager.default.fileExists(atPath: emulator.directory.appending(path: "accepted.ndjson").path))
    }

    @Test func theKeyFileIsForItsOwnerOnly() throws {
        let emulator = try EmulatorProcess()
        let file = emulator.directory.appending(path: "service-account.json").path
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let account = try emulator.serviceAccount()
        #expect(account["token_uri"] == "\(emulator.endpoint)/token")
        #expect(account["type"] == "service_account" && account["project_id"] == "demo-project")
    }
}
