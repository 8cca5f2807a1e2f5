import Operations
import Testing

@testable import SenderCore

/// What `--endpoint` takes, and what is said of the rest.
struct EndpointOptionTests {
    private func endpoint(_ text: String) throws -> String {
        guard
            case .run(let options) = try SenderOptions.table.parse(arguments: ["--endpoint=\(text)"], environment: [:])
        else { throw Failure(.software, "did not run", remedy: "") }
        return try Sender.endpoint(options)
    }

    @Test(arguments: ["https://fcm.googleapis.com", "https://127.0.0.1:8443/", "https://[::1]:8443//"])
    func taken(text: String) throws {
        let taken = try endpoint(text)
        #expect(text.hasPrefix(taken) && !taken.hasSuffix("/"))
    }

    @Test(
        "HTTP/2 needs TLS, and a password or a key is not quoted",
        arguments: [
            "http://127.0.0.1:8080", "http://localhost", "http://fcm.googleapis.com", "https://user:hunter2@localhost",
            "https://hunter2@localhost", #"{"private_key": "hunter2"}"#, "hunter2", "https://",
        ])
    func refused(text: String) throws {
        let failure = try #require(throws: Failure.self) { try endpoint(text) }
        #expect(failure.exit == .usage && failure.what.hasPrefix("--endpoint "))
        #expect(!failure.line.contains("hunter2") && failure.remedy.contains("https://HOST"))
    }
}
