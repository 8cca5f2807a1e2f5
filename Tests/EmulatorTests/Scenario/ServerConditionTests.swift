import Foundation
import Testing

/// What the server as a whole does: sockets, certificates, versions.
@Suite struct ServerConditionTests {
    @Test(arguments: ["other", "expired", "wrong_host"])
    func aClientThatLooksRefusesAnotherCertificate(certificate: String) throws {
        let emulator = try EmulatorProcess(scenario: #"{"server": {"certificate": "\#(certificate)"}}"#)
        let answer = try emulator.curl(emulator.endpoint)
        #expect(answer.exitCode == 60 && answer.status == 0, "\(answer.errorText)")
        let reason = ["other": "issuer", "expired": "expired", "wrong_host": "subject name"][certificate] ?? ""
        // libcurl says of another authority that it cannot get the issuer, or that a signature is wrong.
        #expect(answer.errorText.contains(reason) || certificate == "other", "\(answer.errorText)")
        #expect(try emulator.curl(emulator.endpoint, "--insecure").status == 404)
    }

    @Test(arguments: [("1.1", "--http2", "1.1"), ("2", "--http2", "2"), ("both", "--http1.1", "1.1")])
    func theVersionIsTheScenarios(http: String, flag: String, version: String) throws {
        let emulator = try EmulatorProcess(scenario: #"{"server": {"http": "\#(http)"}}"#)
        let answer = try emulator.curl(emulator.endpoint, flag)
        #expect(answer.status == 404 && answer.httpVersion == version)
    }

    @Test func http2OnlyTurnsOthersAway() throws {
        let emulator = try EmulatorProcess(scenario: #"{"server": {"http": "2"}}"#)
        let answer = try emulator.curl(emulator.endpoint, "--http1.1")
        #expect(answer.exitCode == 35 && answer.status == 0, "\(answer.errorText)")
    }

    @Test func tcpIsRefusedForATimeAndComesBack() throws {
        let emulator = try EmulatorProcess(scenario: #"{"server": {"refuse_tcp": {"between": [0, 1]}}}"#)
        #expect(try emulator.curl(emulator.endpoint).exitCode == 7)
        // curl tries again by itself until the port is back.
        let answer = try emulator.curl(
            emulator.endpoint, "--retry", "20", "--retry-connrefused", "--retry-delay", "1")
        #expect(answer.status == 404, "\(answer.errorText)")
    }

    @Test func tlsIsNotAnsweredThoughTCPIs() throws {
        let emulator = try EmulatorProcess(scenario: #"{"server": {"refuse_tcp": {"by": "no_tls"}}}"#)
        let answer = try emulator.curl(emulator.endpoint, "-v", "-m", "0.5")
        #expect(answer.exitCode == 28 && answer.errorText.contains("Connected to"), "\(answer.errorText)")
    }

    @Test(arguments: [("fin", "1 404"), ("rst", "1 404"), ("silent", "0 000")])
    func anIdleConnectionIsClosed(how: String, second: String) throws {
        let emulator = try EmulatorProcess(scenario: #"{"server": {"close_idle": {"after": 100, "by": "\#(how)"}}}"#)
        // Two requests with a second between them: the second one finds its connection ended and makes another, or
        // does not find it ended, and waits for an answer in vain.
        let run = try emulator.curlOutput([
            "--rate", "60/m", "-m", "0.7", "--write-out", "%{num_connects} %{http_code}\\n",
            emulator.endpoint, "-o", "/dev/null", emulator.endpoint, "-o", "/dev/null",
        ])
        #expect(run.output.split(separator: "\n").map(String.init) == ["1 404", second], "\(run.errors)")
    }
}
