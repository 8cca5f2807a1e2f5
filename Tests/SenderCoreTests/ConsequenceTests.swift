import Curl
import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

/// The sender does what `Consequence` says, which is what `todoke explain` tells people.
@Suite struct ConsequenceTests {
    static let answers: [(Int, String, String?)] = [
        (200, "{}", nil), (404, error("NOT_FOUND", "UNREGISTERED"), nil), (404, "", nil), (400, "", nil),
        (403, error("PERMISSION_DENIED", "SENDER_ID_MISMATCH"), nil), (403, "", nil), (302, "", nil), (401, "", nil),
        (401, error("UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"), nil), (503, "", nil), (503, "", "0"),
        (503, "", "45"), (429, "", nil), (429, error("RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"), "7200"), (500, "", nil),
        (600, "", nil),
    ]

    static func error(_ status: String, _ code: String) -> String {
        #"{"error":{"status":"\#(status)","details":[{"@type":"x/google.firebase.fcm.v1.FcmError","#
            + #""errorCode":"\#(code)"}]}}"#
    }

    @Test(arguments: answers, [1, 2, 9, 10, 11])
    func `an answer`(_ given: (status: Int, body: String, retryAfter: String?), _ attempt: Int) throws {
        let verdict = Verdict.fcm(
            ProviderAnswer(status: given.status, retryAfter: given.retryAfter, body: Array(given.body.utf8)), now: 0)
        try check(verdict, .answered(verdict, httpStatus: given.status), attempt: attempt)
    }

    @Test(arguments: [6, 7, 16, 28, 35, 55, 60, 92], [true, false])
    func `no answer`(_ code: Int, _ issued: Bool) throws {
        let verdict = Verdict.transport(curlCode: code, issued: issued)
        let fault = Failure(.unavailable, "fault", remedy: "look")
        let isConnectFault = try #require(TransportCode(number: code)).isConnectFault
        try check(
            verdict, issued ? .unknown(reason: "gone") : .notIssued(fault, isConnectFault: isConnectFault), attempt: 3)
    }

    private func check(_ verdict: Verdict, _ ending: TransferOutcome.Ending, attempt: Int) throws {
        let told = Consequence(of: verdict, attempt: attempt)
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 1, attempts: attempt - 1)
        #expect(harness.take().posts.count == 1)
        for _ in 0..<told.resends {
            harness.hear(.transferFinished(slot: 0, TransferOutcome(ending, issues: 1)))
            if told.needsNewCredentials {
                let actions = harness.take()
                #expect(actions.posts.isEmpty && actions.tokenRequests == 1)
                harness.hear(.tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
            }
            let actions = harness.take()
            #expect(actions.posts.count == 1 && actions.results.isEmpty)
        }
        harness.hear(.transferFinished(slot: 0, TransferOutcome(ending, issues: 1)))
        let actions = harness.take()
        #expect(actions.posts.isEmpty)
        let next = try #require(actions.results.first?.next)
        switch told.state {
        case .sent: #expect(next == .sent)
        case .failed: #expect(next == .failed)
        case .pending:
            guard case .pending(let delay, let isSpent) = next else {
                Issue.record("not pending: \(next)")
                return
            }
            #expect(isSpent == told.isAttemptSpent)
            #expect(delay.map { told.delay?.contains($0) == true } ?? (told.delay == nil))
        }
        #expect((harness.machine.duplicateRisk > 0) == told.isDuplicateRisk)
        let app = harness.machine.apps[0]
        let opens = told.app == .breakerOpens || told.app == .breakerOpensUnlessOthersSucceed
        #expect((app.breaker.fault != nil) == opens)
        if case .waits(let seconds) = told.app, seconds > 0 {
            #expect(app.holdUntil == harness.now + Int64(seconds) * MachineHarness.second)
        } else {
            #expect(app.holdUntil <= harness.now)
        }
    }

    @Test func `the same libcurl codes open the breaker`() {
        for number in 1...255 {
            let code = CurlCode(rawValue: Int32(number))
            let isFault = TransportFault.connectFault(code, host: "h", detail: "d") != nil
            #expect(TransportCode(number: number)?.isConnectFault == isFault, "\(number)")
            if code.isBeforeRequest { #expect(TransportCode(number: number)?.isBeforeRequest == true, "\(number)") }
        }
        #expect(TransportCode("curle_couldnt_connect")?.number == 7 && TransportCode("PARTIAL_FILE")?.number == 18)
        #expect(TransportCode("OK") == nil && TransportCode("0") == nil && TransportCode("") == nil)
    }

    @Test func `the limits are the ones the help names`() {
        let table = SenderOptions.table.options
        #expect(table.first { $0.name == "max-attempts" }?.defaultValue == "\(RetryPolicy.maximumAttempts)")
        #expect(table.first { $0.name == "retry-base" }?.defaultValue == "\(RetryPolicy().base)")
    }
}
