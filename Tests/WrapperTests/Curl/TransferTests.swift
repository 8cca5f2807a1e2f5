import Curl
import Glibc
import Reactor
import Testing

struct TransferTests {
    let certificate: TestCertificate

    init() throws { certificate = try TestCertificate() }

    private func settings(_ url: String, headers: [String] = ["Content-Type: text/plain"]) throws -> TransferSettings {
        var settings = try TransferSettings(url: url, headers: headers)
        settings.caFile = certificate.certificate
        settings.proxy = ""
        return settings
    }

    private func transfer(_ settings: TransferSettings, body: String = "x") throws -> Transfer {
        let transfer = try Transfer()
        try transfer.configure(settings)
        transfer.setBody(Array(body.utf8))
        return transfer
    }

    @Test func manyPostsShareOneConnection() throws {
        let server = try EchoServer(certificate)
        let loop = try CurlLoop()
        let settings = try settings(server.url)
        // Fewer slots than posts: each is used many times, for bodies that grow.
        let slots = try (0..<50).map { _ in try transfer(settings) }
        func body(_ number: Int) -> String { "post \(number) " + String(repeating: "é", count: number * 3) }
        var next = 0
        var seen = 0
        var connections = 0
        for slot in slots {
            slot.tag = next
            slot.setBody(Array(body(next).utf8))
            try loop.multi.add(slot)
            next += 1
        }
        while seen < 2_000 {
            try loop.run { seen < loop.completed.count }
            for (slot, code) in loop.completed[seen...] {
                seen += 1
                #expect(code == .ok && slot.errorText.isEmpty)
                #expect(slot.status == 200 && slot.httpVersion == .http2 && slot.issues == 1)
                #expect(String(decoding: slot.response, as: UTF8.self) == body(slot.tag))
                #expect(slot.date?.hasSuffix("GMT") == true)
                connections += slot.newConnections
                guard next < 2_000 else { continue }
                slot.tag = next
                slot.removeBody()
                Array(body(next).utf8).withUnsafeBytes { bytes in
                    slot.appendBody(UnsafeRawBufferPointer(rebasing: bytes[..<5]))
                    slot.appendBody(UnsafeRawBufferPointer(rebasing: bytes[5...]))
                }
                try loop.multi.add(slot)
                next += 1
            }
        }
        #expect(connections == 1)
        #expect(loop.multi.inFlight == 0)
    }

    @Test func aLongAnswersMemoryIsNotKept() throws {
        let server = try EchoServer(certificate)
        let loop = try CurlLoop()
        let slot = try transfer(settings(server.url), body: String(repeating: "x", count: 100_000))
        #expect(try loop.perform(slot) == .ok)
        #expect(slot.response.count == 100_000)
        slot.setBody(Array("short".utf8))
        #expect(try loop.perform(slot) == .ok)
        #expect(slot.response.count == 5 && slot.response.capacity < 10_000)
    }

    @Test func postsBeyondTheStreamsWaitTheirTurn() throws {
        let server = try EchoServer(certificate, maxStreams: 10)
        let loop = try CurlLoop(maxStreams: 100)
        let settings = try settings(server.url)
        let slots = try (0..<40).map { _ in try transfer(settings) }
        for slot in slots { try loop.multi.add(slot) }
        try loop.run { loop.completed.count == 40 }
        #expect(loop.completed.allSatisfy { $0.code == .ok && $0.transfer.status == 200 })
        // libcurl learns the server's limit late: what was sent above it is refused, and sent again by itself.
        #expect(slots.allSatisfy { $0.issues >= 1 })
    }

    @Test func anAuthorityThatIsNotTrustedIsProvenBeforeTheRequest() throws {
        let server = try EchoServer(certificate)
        let stranger = try TestCertificate()
        var settings = try settings(server.url)
        settings.caFile = stranger.certificate
        let slot = try transfer(settings)
        #expect(try CurlLoop().perform(slot) == .peerNotVerified)
        #expect(CurlCode.peerNotVerified.isBeforeRequest)
        #expect(slot.issues == 0 && slot.status == 0 && slot.httpVersion == nil)
        #expect(slot.errorText.contains("certificate"))
    }

    @Test func aCAFileThatIsNotThereIsNamed() throws {
        let server = try EchoServer(certificate)
        var settings = try settings(server.url)
        settings.caFile = "/nowhere/ca.pem"
        let slot = try transfer(settings)
        #expect(try CurlLoop().perform(slot) == .caFileUnusable)
        #expect(slot.errorText.contains("/nowhere/ca.pem"))
    }

    @Test func aCertificateOfAnotherNameIsRefused() throws {
        let server = try EchoServer(certificate)
        let slot = try transfer(settings("https://127.0.0.2:\(server.port)/"))
        // nghttpd listens on 127.0.0.1 only, so the name is checked through the resolver's loopback instead.
        #expect(try CurlLoop().perform(slot) == .cannotConnect)
        let named = try transfer(settings("https://other.localhost:\(server.port)/"))
        #expect(try CurlLoop().perform(named) == .peerNotVerified)
    }

    @Test func aRefusedConnectionIsProvenBeforeTheRequest() throws {
        let port = try LoopbackListener().port
        let slot = try transfer(settings("https://localhost:\(port)/"))
        #expect(try CurlLoop().perform(slot) == .cannotConnect)
        #expect(CurlCode.cannotConnect.isBeforeRequest)
        #expect(slot.issues == 0)
        #expect(!slot.errorText.isEmpty)
    }

    @Test func aSilentServerTimesOut() throws {
        let listener = try LoopbackListener()
        var settings = try settings("https://localhost:\(listener.port)/")
        settings.connectTimeoutMilliseconds = 50
        let slot = try transfer(settings)
        #expect(try CurlLoop().perform(slot) == .timedOut)
        #expect(slot.issues == 0)
    }

    @Test func aServerThatSpeaksOnlyHTTP1IsSeen() throws {
        let listener = try LoopbackListener()
        let loop = try CurlLoop()
        let slot = try transfer(settings("http://127.0.0.1:\(listener.port)/"))
        try loop.multi.add(slot)
        loop.multi.timedOut()
        let peer = try listener.accept { try loop.turn() }
        peer.send(
            Array(
                "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 429 Slow\r\nRETRY-AFTER:  120 \r\nContent-Length: 2\r\n\r\nno"
                    .utf8))
        try loop.run { !slot.isInFlight }
        #expect(slot.code == .ok)
        #expect(slot.status == 429 && slot.httpVersion == .http1)
        #expect(slot.retryAfter == "120" && slot.date == nil)
        #expect(slot.response == Array("no".utf8))
    }

    @Test func aStatusThatCameCountsThoughTheBodyIsCut() throws {
        let listener = try LoopbackListener()
        let loop = try CurlLoop()
        let slot = try transfer(settings("http://127.0.0.1:\(listener.port)/"))
        try loop.multi.add(slot)
        loop.multi.timedOut()
        do {
            let peer = try listener.accept { try loop.turn() }
            peer.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".utf8))
            shutdown(peer.descriptor, Int32(SHUT_WR))
            try loop.run { !slot.isInFlight }
        }
        #expect(slot.code == .partialFile)
        #expect(slot.status == 200 && slot.response == Array("half".utf8))
    }

    @Test func aLongAnswerIsCutAtTheLimit() throws {
        let server = try EchoServer(certificate)
        var settings = try settings(server.url)
        settings.maximumResponseBytes = 1_000
        let slot = try transfer(settings, body: String(repeating: "x", count: 50_000))
        #expect(try CurlLoop().perform(slot) == .ok)
        #expect(slot.response.count == 1_000)
    }

    @Test func headersCanBeReplacedBetweenRequests() throws {
        let listener = try LoopbackListener()
        let loop = try CurlLoop()
        let slot = try transfer(
            settings("http://127.0.0.1:\(listener.port)/", headers: ["Authorization: Bearer one"]))
        for token in ["one", "two"] {
            if token == "two" { slot.setHeaders(try HeaderList(["Authorization: Bearer two"])) }
            try loop.multi.add(slot)
            loop.multi.timedOut()
            let peer = try listener.accept { try loop.turn() }
            let request = try peer.receive(until: "\r\n\r\nx") { try loop.turn() }
            #expect(request.contains("Authorization: Bearer \(token)\r\n"))
            #expect(request.contains("User-Agent: todoke\r\n"))
            #expect(!request.lowercased().contains("expect:") && !request.lowercased().contains("accept:"))
            peer.send(Array("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8))
            try loop.run { !slot.isInFlight }
            #expect(slot.status == 200)
        }
    }

    @Test func redirectsAreNotFollowed() throws {
        let listener = try LoopbackListener()
        let loop = try CurlLoop()
        let slot = try transfer(settings("http://127.0.0.1:\(listener.port)/"))
        try loop.multi.add(slot)
        loop.multi.timedOut()
        let peer = try listener.accept { try loop.turn() }
        peer.send(Array("HTTP/1.1 302 Found\r\nLocation: https://localhost:1/\r\nContent-Length: 0\r\n\r\n".utf8))
        try loop.run { !slot.isInFlight }
        #expect(slot.status == 302 && slot.code == .ok)
    }

    @Test func aRemovedTransferIsCancelledAndFree() throws {
        let server = try EchoServer(certificate)
        let loop = try CurlLoop()
        let slots = try (0..<10).map { _ in try transfer(settings(server.url)) }
        for slot in slots { try loop.multi.add(slot) }
        #expect(throws: CurlError.self) { try loop.multi.add(slots[0]) }
        loop.multi.timedOut()
        for slot in slots[..<5] { loop.multi.remove(slot) }
        slots[5].setBody(Array("other".utf8))
        #expect(loop.multi.inFlight == 4)
        try loop.run { loop.completed.count == 4 }
        #expect(loop.completed.allSatisfy { $0.code == .ok })
        for slot in slots[..<6] { #expect(try loop.perform(slot) == .ok) }
        #expect(slots[5].response == Array("other".utf8))
    }

    @Test func aMultiHandleMayGoWithTransfersInFlight() throws {
        let server = try EchoServer(certificate)
        var loop: CurlLoop? = try CurlLoop()
        let slots = try (0..<10).map { _ in try transfer(settings(server.url)) }
        #expect(try loop?.perform(slots[0]) == .ok)
        for slot in slots { try loop?.multi.add(slot) }
        try loop?.turn()
        loop = nil
        #expect(slots.allSatisfy { !$0.isInFlight })
        let next = try CurlLoop()
        for slot in slots { #expect(try next.perform(slot) == .ok) }
    }

    @Test func aMultiHandleThatNobodyClosesLetsItsTransfersGo() throws {
        try CurlLibrary.initialize()
        var multi: MultiHandle? = try MultiHandle(maxStreamsPerConnection: 10)
        let listener = try LoopbackListener()
        let slots = try (0..<3).map { _ in try transfer(settings("https://localhost:\(listener.port)/")) }
        for slot in slots { try multi?.add(slot) }
        multi?.timedOut()
        multi = nil
        #expect(slots.allSatisfy { !$0.isInFlight })
        slots[0].setBody(Array("free again".utf8))
    }

    @Test func aClosedMultiHandleNamesEveryDescriptorItLeaves() throws {
        let server = try EchoServer(certificate)
        let loop = try CurlLoop()
        let slot = try transfer(settings(server.url))
        try loop.multi.add(slot)
        try loop.run { slot.issues == 1 }
        loop.multi.close()
        #expect(loop.multi.takeSocketChanges().contains { !$0.read && !$0.write })
        #expect(loop.multi.deadline == nil && loop.multi.nextCompletion() == nil)
        #expect(throws: CurlError.self) { try loop.multi.add(slot) }
    }

    @Test func anUnconfiguredTransferIsRefused() throws {
        let transfer = try Transfer()
        #expect(throws: CurlError.self) { try CurlLoop().multi.add(transfer) }
    }
}
