import Curl
import Delivery
import Glibc
import Operations
import Queue
import Reactor
import Testing

@testable import SenderCore

/// The way to the provider where libcurl does not do its part, with servers that never answer.
@Suite struct ProviderTests {
    private let reactor: Reactor
    private let events = EventQueue()
    private let listener: ListeningSocket

    init() throws {
        try CurlLibrary.initialize()
        reactor = try Reactor()
        listener = try ListeningSocket(host: "127.0.0.1", port: 0)
    }

    private func provider(scheme: String, options: TransferOptions = TransferOptions(proxy: "")) throws -> Provider {
        try Provider(
            reactor: reactor, events: events, endpoint: "\(scheme)://127.0.0.1:\(listener.port)", slots: 4,
            limits: ConnectionLimits(), options: options, wallClock: { 1_796_032_800 })
    }

    private func order(project: String = "p-1") -> PostOrder {
        PostOrder(
            slot: 0, projectID: project, credential: 0,
            message: ClaimedMessage(
                key: MessageKey(id: 1, day: MachineHarness.day, claimNumber: 1), app: 1, attempts: 0,
                expiresInMilliseconds: nil, isAtMostOnce: false, ttlDigits: nil, payload: Array(#"{"token":"t"}"#.utf8)),
            secondsLeft: nil)
    }

    /// How the post ended; nil where nobody said so.
    private func ending() -> TransferOutcome.Ending? {
        for case .transferFinished(0, let outcome) in events.drain() { return outcome.ending }
        return nil
    }

    /// Turns the loop until it is so; false when it never was.
    private func turn(_ provider: Provider, until isDone: () -> Bool) throws -> Bool {
        let limit = Reactor.now + 10_000_000_000
        while !isDone() {
            guard Reactor.now < limit else { return false }
            provider.turn(now: Reactor.now)
            if isDone() { return true }
            try reactor.wait(atMostNanoseconds: max(0, min(provider.deadline ?? limit, limit) - Reactor.now))
        }
        return true
    }

    @Test func aRequestThatLibcurlForgetsIsEnded() throws {
        let provider = try provider(scheme: "http")
        let start = Reactor.now
        provider.post(order(), now: start)
        var client: Int32?
        #expect(
            try turn(provider) {
                if client == nil { client = listener.accept() }
                return client.map(hasReceived) ?? false
            })
        defer { client.map { _ = close($0) } }
        #expect(try #require(provider.deadline) <= start + 1_100_000_000)
        // libcurl, whose clock nobody moves, still waits.
        provider.turn(now: start + 21_900_000_000)
        #expect(ending() == nil)
        provider.turn(now: start + 23_100_000_000)
        guard case .unknown? = ending() else {
            Issue.record("a request that was issued did not end as unknown")
            return
        }
        provider.turn(now: start + 23_100_000_000)
        #expect(provider.connectionCounts.now == 0 && provider.deadline == nil)
    }

    @Test func aConnectionThatLibcurlForgetsIsNoRequest() throws {
        let provider = try provider(scheme: "https")
        let start = Reactor.now
        provider.post(order(), now: start)
        var client: Int32?
        #expect(
            try turn(provider) {
                client = listener.accept()
                return client != nil
            })
        defer { client.map { _ = close($0) } }
        provider.turn(now: start + 23_000_000_000)
        guard case .notIssued(let failure, isConnectFault: true)? = ending() else {
            Issue.record("a request without a connection did not end as not issued")
            return
        }
        #expect(failure.what.hasSuffix(" does not answer in time"))
    }

    @Test(arguments: ["my project", "p?x", "p#x", "p/x", "..", "", "p\u{e9}"])
    func aProjectThatIsNoneIsNamed(project: String) throws {
        let provider = try provider(scheme: "https")
        provider.post(order(project: project), now: Reactor.now)
        guard case .notIssued(let failure, isConnectFault: true)? = ending() else {
            Issue.record("a post for no project did not end as not issued")
            return
        }
        #expect(failure.exit == .configuration && failure.what.contains("todoke.apps.project_id"))
        #expect(provider.connectionCounts.opened == 0)
    }

    @Test func aProxyLearnsWhoAsks() throws {
        let proxy = "http://127.0.0.1:\(listener.port)"
        let provider = try provider(
            scheme: "https", options: TransferOptions(proxy: proxy, userAgent: "todoke/test"))
        try provider.use(accessToken: "secret", quotaProject: nil, credential: 0)
        provider.post(order(), now: Reactor.now)
        var client: Int32?
        var head: [UInt8] = []
        #expect(
            try turn(provider) {
                if client == nil { client = listener.accept() }
                var byte: UInt8 = 0
                while let client, recv(client, &byte, 1, Int32(MSG_DONTWAIT)) > 0 { head.append(byte) }
                return head.suffix(4) == [13, 10, 13, 10]
            })
        defer { client.map { _ = close($0) } }
        let text = String(decoding: head, as: UTF8.self)
        #expect(text.hasPrefix("CONNECT 127.0.0.1:\(listener.port) "))
        #expect(text.contains("\r\nUser-Agent: todoke/test\r\n") && !text.contains("secret"))
    }

    private func hasReceived(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) > 0
    }
}
