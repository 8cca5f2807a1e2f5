import Signing

@testable import Operations
@testable import SenderCore

extension FuzzTarget {
    /// A key file of a service account or a user; `@KEY@` stands for a key, so that the corpus needs none.
    static let serviceAccount = FuzzTarget("service-account", longest: 8192) { input in
        var file = input.array
        if let place = file.firstRange(of: Array("@KEY@".utf8)) { file.replaceSubrange(place, with: escapedKey) }
        do throws(Failure) {
            switch try Credential(json: file, path: "key.json") {
            case .serviceAccount(let account):
                expect(!account.clientEmail.isEmpty && !account.tokenURL.isEmpty, "an account without address")
                expect(account.key.isRSA, "an account without an RSA key")
            case .authorizedUser(let user):
                expect(!user.tokenURL.isEmpty && !user.grant.isEmpty, "a user without address")
            case .metadataServer: expect(false, "a file that is a server")
            }
        } catch {
            expect(error.exit == .configuration, "a bad key file is a fault of the configuration")
            expect(error.what.utf8.count <= 1000, "an error as long as the file")
            expect(!error.what.contains("-----BEGIN PRIVATE KEY"), "a key in an error")
        }
    }

    /// A token endpoint's answer: the status on the first line, the body below.
    static let tokenAnswer = FuzzTarget("token-answer") { input in
        let lines = input.array.lines
        let body = Array(lines.dropFirst().joined(separator: [0x0A]))
        let reply = TokenReply(status: Int(lines.first?.text ?? "") ?? 200, body: body)
        switch TokenAnswer.judge(reply, of: .metadataServer(.fuzzed), now: 1_800_000_000) {
        case .token(let token, let lifetime):
            expect(!token.isEmpty, "an empty access token")
            expect((1...31_536_000).contains(lifetime), "an access token for \(lifetime) s")
        case .failure(let failure, _):
            expect(failure.exit == .unavailable || failure.exit == .configuration, "another exit code")
            expect(failure.what.utf8.count <= 1200, "an error as long as the answer")
            expect(failure.what.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "an error of several lines")
        }
    }

    /// A key of this run as it stands inside of a JSON string: line ends as `\n`.
    private static let escapedKey: [UInt8] = {
        let pem = (try? PrivateKey.generateRSA(bits: 1024).pkcs8PEM()) ?? []
        return pem.flatMap { $0 == 0x0A ? Array("\\n".utf8) : [$0] }
    }()
}

extension MetadataServer {
    fileprivate static let fuzzed = MetadataServer(
        host: "metadata.google.internal", probeHost: "169.254.169.254", timeoutMilliseconds: 3_000)
}
