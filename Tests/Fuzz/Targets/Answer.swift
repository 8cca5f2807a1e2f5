@testable import Delivery

extension FuzzTarget {
    /// A provider's answer: `fcm 404` or `apns 410`, header lines, an empty line, the body.
    ///
    /// A token is declared dead only where the answer says so in words, or by APNs' 410.
    static let answer = FuzzTarget("answer") { input in
        let (isAPNs, answer) = readAnswer(input.array)
        let verdict = isAPNs ? Verdict.apns(answer, now: 1_700_000_000) : Verdict.fcm(answer, now: 1_700_000_000)
        let again = isAPNs ? Verdict.apns(answer, now: 1_700_000_000) : Verdict.fcm(answer, now: 1_700_000_000)
        expect(verdict == again, "two verdicts on one answer differ")
        expect((verdict.kind == .sent) == (200..<300).contains(answer.status), "sent is not what the status says")
        expect((verdict.retryAfterSeconds != nil) == (verdict.kind == .retryAfter), "seconds and class disagree")
        expect((0...31_536_000).contains(verdict.retryAfterSeconds ?? 0), "a wait that is out of range")
        expect((1...64).contains(verdict.code.utf8.count), "a code that is none: \(verdict.code)")
        expect(verdict.code.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "a code with strange letters")
        expect((1...1000).contains(verdict.hint.utf8.count), "a hint that is empty or too long")
        expect(verdict.hint.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a hint of several lines")
        if verdict.kind == .tokenInvalid, !(isAPNs && answer.status == 410) {
            expect(hasProof(answer.body), "a token is declared dead without proof: \(verdict)")
        }
    }

    private static let proofs = [
        "UNREGISTERED", "BadDeviceToken", "Unregistered", "ExpiredToken", "message.token", "message.fid",
        "The registration token is not a valid FCM registration token",
    ].map { Array($0.utf8) }

    private static func hasProof(_ body: [UInt8]) -> Bool {
        // Written anew, so that no escape hides the words; APNs' reasons may have blanks in them.
        guard let value = AnswerBody.value(body.span) else { return false }
        var compact: [UInt8] = []
        value.write(into: &compact)
        let dense = compact.filter { $0 != 0x20 }
        return proofs.contains { compact.firstRange(of: $0) != nil || dense.firstRange(of: $0) != nil }
    }

    private static func readAnswer(_ bytes: [UInt8]) -> (isAPNs: Bool, answer: ProviderAnswer) {
        var lines = bytes.lines[...]
        let first = (lines.popFirst() ?? []).split(separator: 0x20).map { Array($0).text }
        var answer = ProviderAnswer(status: first.count > 1 ? Int(first[1]) ?? 0 : 0)
        while let line = lines.popFirst(), !line.isEmpty {
            let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            let value = Array(line[colon...].dropFirst()).text
            switch Array(line[..<colon]).text {
            case "retry-after": answer.retryAfter = value
            case "date": answer.date = value
            case "apns-id": answer.apnsID = value
            default: break
            }
        }
        answer.body = Array(lines.joined(separator: [0x0A]))
        return (first.first == "apns", answer)
    }
}
