import Queue
import Testing

@testable import SenderCore

@Suite struct RequestBodyTests {
    private func body(_ payload: String, _ digits: Range<Int>?, _ left: Int?, isValidateOnly: Bool = false) -> String {
        let message = ClaimedMessage(
            key: MessageKey(id: 1, day: MachineHarness.day, claimNumber: 1), app: 1, attempts: 0,
            expiresInMilliseconds: nil, isAtMostOnce: false, isValidateOnly: isValidateOnly, ttlDigits: digits,
            payload: Array(payload.utf8))
        var bytes: [UInt8] = []
        RequestBody.make(message, secondsLeft: left) { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func thePayloadIsPostedByteForByte() {
        #expect(body(#"{ "token":"é\u2028" }"#, nil, nil) == #"{"message":{ "token":"é\u2028" }}"#)
    }

    @Test(arguments: [(3_600, 3_600), (59, 59), (0, 0), (-3, 0), (9_999, 3_600)])
    func theTTLIsWhatIsLeftAndNeverMoreThanQueued(left: Int, written: Int) {
        #expect(body(#"{"ttl":"3600s"}"#, 8..<12, left) == #"{"message":{"ttl":"\#(written)s"}}"#)
    }

    @Test func aRangeOutsideThePayloadChangesNothing() {
        #expect(body("{}", 1..<9, 5) == #"{"message":{}}"#)
    }

    @Test func whatIsOnlyToBeCheckedSaysSoAroundTheSameMessage() {
        #expect(
            body(#"{ "token":"é\u2028" }"#, nil, nil, isValidateOnly: true)
                == #"{"validate_only":true,"message":{ "token":"é\u2028" }}"#)
        #expect(
            body(#"{"ttl":"3600s"}"#, 8..<12, 59, isValidateOnly: true)
                == #"{"validate_only":true,"message":{"ttl":"59s"}}"#)
    }
}
