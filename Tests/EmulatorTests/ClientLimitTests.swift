import Foundation
import Testing

/// Clients that come in numbers, leave without a word, or are led here by a web page.
@Suite struct ClientLimitTests {
    @Test(arguments: [
        ("Host: evil.example", 403), ("Host: evil.example:80", 403), ("Origin: http://evil.example", 403),
        ("Origin: null", 403), ("Host: 1.2.3.4.evil.example", 403), ("Host: localhost", 200), ("Host: 127.0.0.1", 200),
        ("Origin: http://localhost:3000", 200),
    ])
    func theControlAPIIsNotForPagesOfOtherSites(_ header: String, _ status: Int) throws {
        let emulator = try EmulatorProcess("--no-accepted-log")
        #expect(try emulator.ask("/reset", "-X", "POST", "-H", header).status == status)
    }

    @Test func aSilentConnectionIsGivenUpWhenItsClientHasLeft() throws {
        let emulator = try EmulatorProcess("--no-accepted-log", "--reset-after-accept", "1", "--reset-by", "silent")
        let authorization = try emulator.authorization()
        for version in ["--http2", "--http1.1"] {
            let answer = try emulator.curl(
                version, "--max-time", "0.5", emulator.sendURL, "-H", authorization, "--data",
                #"{"message":{"token":"a"}}"#)
            #expect(answer.exitCode == 28, "it was answered: \(answer)")
        }
        #expect(try emulator.ask("/wait?connections.now<=0&timeout=20").status == 200)
    }
}
