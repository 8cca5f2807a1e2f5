import Curl
import Glibc
import Testing

/// A server that dies between taking a request and answering it: what libcurl does by itself, and what can be known.
struct UnknownOutcomeTests {
    let certificate: TestCertificate

    init() throws { certificate = try TestCertificate() }

    /// A warm connection to a server that is stopped, and posts that libcurl has sent over it.
    private func postIntoStoppedServer(
        _ server: EchoServer, _ loop: CurlLoop, posts: Int, maximumIssues: Int = .max
    ) throws -> [Transfer] {
        var settings = try TransferSettings(url: server.url, headers: ["Content-Type: text/plain"])
        settings.caFile = certificate.certificate
        settings.proxy = ""
        let warm = try Transfer()
        try warm.configure(settings)
        warm.setBody([1])
        try #require(loop.perform(warm) == .ok)
        server.process.signal(SIGSTOP)
        server.process.waitUntilStopped()
        let slots = try (0..<posts).map { _ in try Transfer() }
        for slot in slots {
            try slot.configure(settings)
            slot.setBody(Array("once".utf8))
            slot.maximumIssues = maximumIssues
            try loop.multi.add(slot)
        }
        try loop.run { slots.allSatisfy { $0.issues == 1 } }
        return slots
    }

    @Test func aServerKilledInMidFlightLeavesUnknownOutcomes() throws {
        let server = try EchoServer(certificate)
        let loop = try CurlLoop()
        let slots = try postIntoStoppedServer(server, loop, posts: 10)
        server.process.signal(SIGKILL)
        server.process.wait()
        try loop.run { slots.allSatisfy { !$0.isInFlight } }
        for slot in slots {
            #expect(slot.code != .ok)
            #expect(slot.status == 0 && slot.httpVersion == nil)
            // Whatever the code says about the last attempt, the first one was sent.
            #expect(slot.issues == 1)
            #expect(!slot.errorText.isEmpty)
        }
    }

    @Test func libcurlPostsAgainByItselfAndThatIsCounted() throws {
        let server = try EchoServer(certificate)
        let loop = try CurlLoop()
        let slot = try postIntoStoppedServer(server, loop, posts: 1)[0]
        server.process.signal(SIGKILL)
        server.process.wait()
        let successor = try EchoServer(certificate, port: server.port)
        try loop.run { !slot.isInFlight }
        // Success, to libcurl; two posts, to whoever counts.
        #expect(slot.code == .ok && slot.status == 200 && slot.issues == 2)
        _ = successor
    }

    @Test func aSecondPostCanBeRefused() throws {
        let server = try EchoServer(certificate)
        let loop = try CurlLoop()
        let slot = try postIntoStoppedServer(server, loop, posts: 1, maximumIssues: 1)[0]
        server.process.signal(SIGKILL)
        server.process.wait()
        let successor = try EchoServer(certificate, port: server.port)
        try loop.run { !slot.isInFlight }
        #expect(slot.code == .abortedByCallback && slot.wasReissueRefused)
        #expect(slot.issues == 1 && slot.status == 0)
        _ = successor
    }

    @Test func ofManyPostsOnADeadConnectionEachIsPostedAgainOrUnknown() throws {
        let server = try EchoServer(certificate)
        let loop = try CurlLoop()
        let slots = try postIntoStoppedServer(server, loop, posts: 10)
        server.process.signal(SIGKILL)
        server.process.wait()
        let successor = try EchoServer(certificate, port: server.port)
        try loop.run { slots.allSatisfy { !$0.isInFlight } }
        for slot in slots {
            let isPostedAgain = slot.code == .ok && slot.status == 200 && slot.issues == 2
            let isUnknown = slot.code != .ok && slot.status == 0 && slot.issues >= 1
            #expect(isPostedAgain || isUnknown)
        }
        _ = successor
    }
}
