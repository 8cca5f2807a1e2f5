import Curl
import Glibc
import Testing

/// A multi handle with one connection in its life: what would need another one learns why it does not get it.
struct ConnectOnceTests {
    let certificate: TestCertificate

    init() throws { certificate = try TestCertificate() }

    private func slots(_ count: Int, _ server: EchoServer) throws -> [Transfer] {
        var settings = try TransferSettings(url: server.url, headers: ["Content-Type: text/plain"])
        settings.caFile = certificate.certificate
        settings.proxy = ""
        return try (0..<count).map { _ in
            let slot = try Transfer()
            try slot.configure(settings)
            slot.setBody(Array("once".utf8))
            return slot
        }
    }

    @Test func aConnectionThatDiedIsNotReplacedAndNothingIsPostedAgain() throws {
        let server = try EchoServer(certificate)
        let loop = try CurlLoop(connectsOnce: true)
        let slots = try slots(20, server)
        #expect(try loop.perform(slots[0]) == .ok)
        server.process.signal(SIGSTOP)
        server.process.waitUntilStopped()
        for slot in slots { try loop.multi.add(slot) }
        try loop.run { loop.multi.issued == 20 }
        server.process.signal(SIGKILL)
        server.process.wait()
        let successor = try EchoServer(certificate, port: server.port)
        try loop.run { loop.multi.inFlight == 0 }
        for slot in slots {
            #expect(slot.code != .ok && slot.status == 0 && slot.issues == 1)
            #expect(slot.needsConnection == nil || slot.needsConnection == .connectionDied)
        }
        #expect(loop.multi.issued == 0)
        _ = successor
    }

    @Test func aRequestAfterTheConnectionsEndWasNeverIssued() throws {
        let server = try EchoServer(certificate)
        let loop = try CurlLoop(connectsOnce: true)
        let slot = try slots(1, server)[0]
        #expect(try loop.perform(slot) == .ok)
        server.process.signal(SIGKILL)
        server.process.wait()
        let successor = try EchoServer(certificate, port: server.port)
        #expect(try loop.perform(slot) != .ok)
        #expect(slot.needsConnection == .beforeIssue && slot.issues == 0 && slot.requestBytes == 0)
        _ = successor
    }

    @Test func streamsBeyondWhatTheServerAllowsAreNotIssued() throws {
        let server = try EchoServer(certificate, maxStreams: 10)
        let loop = try CurlLoop(connectsOnce: true)
        let slots = try slots(15, server)
        #expect(try loop.perform(slots[0]) == .ok)
        // Stopped, so that none is answered before all were added.
        server.process.signal(SIGSTOP)
        server.process.waitUntilStopped()
        for slot in slots { try loop.multi.add(slot) }
        try loop.run { loop.multi.inFlight == 10 }
        #expect(slots.count { $0.needsConnection == .beforeIssue && $0.issues == 0 } == 5)
        server.process.signal(SIGCONT)
        try loop.run { loop.multi.inFlight == 0 }
        #expect(slots.count { $0.code == .ok && $0.status == 200 } == 10)
    }

    @Test func nothingStaysHeldBackAfterTheCall() throws {
        let listener = try LoopbackListener()
        let loop = try CurlLoop(connectsOnce: true)
        var settings = try TransferSettings(
            url: "http://127.0.0.1:\(listener.port)/", headers: ["Content-Type: text/plain"])
        settings.proxy = ""
        let slot = try Transfer()
        try slot.configure(settings)
        slot.setBody(Array("body".utf8))
        try loop.multi.add(slot)
        #expect(loop.multi.isWaitingToStart)
        loop.multi.timedOut()
        #expect(!loop.multi.isWaitingToStart)
        let peer = try listener.accept { try loop.turn() }
        _ = try peer.receive(until: "body") { try loop.turn() }
        peer.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
        try loop.run { !slot.isInFlight }
        // On the connection that is open already: one call sends all of it, and the loop need not turn for it.
        try loop.multi.add(slot)
        loop.multi.timedOut()
        let request = try peer.receive(until: "body") {}
        #expect(request.hasPrefix("POST / HTTP/1.1\r\n"))
        peer.send(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))
        try loop.run { !slot.isInFlight }
        #expect(slot.status == 204)
    }
}
