import Curl
import HTTP1
import Operations
import Reactor
import Testing

@testable import SenderCore

/// The way to the token endpoint and to the metadata server, with everything that may go wrong on it.
@Suite struct TokenFetcherTests {
    private let server: TokenServer

    init() throws {
        try CurlLibrary.initialize()
        server = try TokenServer()
    }

    private func user(_ name: String, host: String? = nil, quotaProject: String = "") throws -> Credential {
        try Credential(
            json: Array(
                """
                {"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"\(name)",
                "token_uri":"http://\(host ?? server.host)/token","quota_project_id":"\(quotaProject)"}
                """.utf8), path: "\(name).json")
    }

    private func metadata() -> Credential {
        .metadataServer(MetadataServer(host: server.host, probeHost: server.host, timeoutMilliseconds: 3_000))
    }

    private func fetcher(
        _ credentials: [Credential], timeoutMilliseconds: Int = 20_000, quotaProject: String? = nil
    ) throws -> [TokenFetcher] {
        try credentials.enumerated().map { index, credential in
            try TokenFetcher(
                credential: credential, index: index, quotaProject: quotaProject, reactor: server.reactor,
                events: server.events, options: TransferOptions(timeoutMilliseconds: timeoutMilliseconds),
                wallClock: { 1_796_032_800 })
        }
    }

    private func failure(_ credential: Int, _ events: [SenderEvent]) -> Failure? {
        for case .tokenFailed(credential, let failure) in events { return failure }
        return nil
    }

    private func hasToken(_ credential: Int, _ events: [SenderEvent], lifetime: Int64 = 3_600) -> Bool {
        events.contains { event in
            if case .tokenReady(credential, let life) = event { life == lifetime * 1_000_000_000 } else { false }
        }
    }

    @Test func eachCredentialGetsATokenOfItsOwn() throws {
        let tokens = try fetcher([user("one"), user("two", quotaProject: "p-2"), metadata()])
        var got: [Int: [String?]] = [:]
        for credential in 0..<3 {
            tokens[credential].received = { token, project in got[credential] = [token, project] }
            server.answers = [TokenServer.token("token-\(credential)")]
            tokens[credential].fetch()
            #expect(try server.turn(tokens) { got[credential] != nil })
        }
        #expect(got == [0: ["token-0", nil], 1: ["token-1", "p-2"], 2: ["token-2", nil]])
        let events = server.events.drain()
        #expect(hasToken(0, events) && hasToken(1, events) && hasToken(2, events))
        #expect(String(decoding: server.requests[1].body, as: UTF8.self).hasSuffix("refresh_token=two"))
        #expect(String(decoding: server.requests[2].method, as: UTF8.self) == "GET")
        #expect(server.requests[2].header("metadata-flavor") == Array("Google".utf8))
    }

    @Test func theEnvironmentsQuotaProjectGoesFirst() throws {
        let tokens = try fetcher([user("one", quotaProject: "p-1")], quotaProject: "p-env")
        var got: String?
        tokens[0].received = { _, project in got = project }
        server.answers = [TokenServer.token("t")]
        tokens[0].fetch()
        #expect(try server.turn(tokens) { got != nil })
        #expect(got == "p-env")
    }

    @Test func oneThatHangsHoldsUpNoOther() throws {
        let tokens = try fetcher([user("slow"), user("quick")], timeoutMilliseconds: 500)
        tokens[0].fetch()
        #expect(try server.turn(tokens) { server.requests.count == 1 })
        server.answers = [TokenServer.token("t")]
        tokens[1].fetch()
        #expect(try server.turn(tokens) { !server.events.isEmpty })
        #expect(hasToken(1, server.events.drain()))
        #expect(try server.turn(tokens) { !server.events.isEmpty })
        let failure = try #require(self.failure(0, server.events.drain()))
        #expect(failure.exit == .unavailable)
        #expect(failure.what == "the token endpoint \(server.host) does not answer in time")
    }

    @Test func aServerThatIsNotThereIsPassing() throws {
        let tokens = try fetcher([user("one", host: "127.0.0.1:1")])
        tokens[0].fetch()
        #expect(try server.turn(tokens) { !server.events.isEmpty })
        let failure = try #require(self.failure(0, server.events.drain()))
        #expect(failure.exit == .unavailable)
        #expect(failure.remedy.contains("\"token_uri\"") && !failure.remedy.contains("--endpoint"))
    }

    @Test func retryAfterIsWaitedForUnlessTheKeyIsReplaced() throws {
        let tokens = try fetcher([user("old")])
        server.answers = [HTTP1Response(status: 429, headers: [("Retry-After", "600")])]
        tokens[0].fetch()
        #expect(try server.turn(tokens) { !server.events.isEmpty })
        #expect(self.failure(0, server.events.drain())?.exit == .unavailable)

        let asked = Reactor.now
        tokens[0].fetch()
        let deadline = try #require(tokens[0].deadline)
        #expect(deadline > asked + 590_000_000_000 && deadline < asked + 601_000_000_000)
        tokens[0].turn(now: asked + 580_000_000_000)
        #expect(tokens[0].deadline == deadline && server.requests.count == 1)

        server.answers = [TokenServer.token("t")]
        tokens[0].replace(by: try user("new"))
        tokens[0].fetch()
        #expect(try server.turn(tokens) { hasToken(0, server.events.drain()) })
        #expect(String(decoding: server.requests[1].body, as: UTF8.self).hasSuffix("refresh_token=new"))
    }

    /// An answer to the old key that is still on its way must not pass for the new one's.
    @Test func aReplacedKeysAnswerIsNotWaitedFor() throws {
        let tokens = try fetcher([user("old")])
        tokens[0].fetch()
        #expect(try server.turn(tokens) { server.requests.count == 1 })
        tokens[0].replace(by: try user("new"))
        guard case .credentialReplaced(0)? = server.events.drain().first else {
            Issue.record("the machine is not told")
            return
        }
        server.requests[0].respond(TokenServer.token("old-token"))
        var got: [String] = []
        tokens[0].received = { token, _ in got.append(token) }
        server.answers = [TokenServer.token("new-token")]
        tokens[0].fetch()
        #expect(try server.turn(tokens) { !got.isEmpty })
        #expect(got == ["new-token"])
    }

    @Test func anotherServerAtTheMetadataServersPlaceIsNotBelieved() throws {
        let tokens = try fetcher([metadata()])
        tokens[0].received = { _, _ in Issue.record("its token was taken") }
        server.answers = [TokenServer.token("t", isGoogles: false)]
        tokens[0].fetch()
        #expect(try server.turn(tokens) { !server.events.isEmpty })
        #expect(self.failure(0, server.events.drain())?.what.contains("not Google's metadata server") == true)
    }

    // MARK: Whether there is a metadata server

    /// The probe turns the loop itself: the server works whenever the probe asks whether it is interrupted.
    private func probe(_ host: String, isInterrupted: Bool = false) throws -> MetadataProbe {
        let server = server
        return MetadataProbe(
            server: MetadataServer(host: host, probeHost: host, timeoutMilliseconds: 200), reactor: server.reactor,
            options: TransferOptions(), pause: 1_000_000,
            isInterrupted: {
                server.serve()
                return isInterrupted
            })
    }

    @Test func theProbeFindsTheServer() throws {
        // The first try gets no answer in time.
        var tries = 0
        server.onRequest = { request in
            tries += 1
            if tries == 2 { request.respond(TokenServer.token("")) }
        }
        try probe(server.host).run()
        #expect(tries == 2)
    }

    @Test func anotherCloudsServerIsNone() throws {
        server.answers = [HTTP1Response(status: 404)]
        let failure = #expect(throws: Failure.self) { try probe(server.host).run() }
        #expect(failure?.exit == .configuration && server.requests.count == 1)
    }

    @Test func noServerIsAFaultOfTheConfiguration() throws {
        let failure = #expect(throws: Failure.self) { try probe("127.0.0.1:1").run() }
        #expect(failure?.exit == .configuration)
        #expect(failure?.remedy.contains("--credentials") == true)
    }

    @Test func aSignalEndsTheProbe() throws {
        try probe("127.0.0.1:1", isInterrupted: true).run()
    }
}
