import Foundation
import Signing
import Testing

/// What the authority makes, judged by the `openssl` program.
@Suite struct CertificateAuthorityTests {
    @Test func theServerCertificateVerifiesForItsNames() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "todoke-ca-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let authority = try CertificateAuthority(commonName: "Todoke test authority")
        let identity = try authority.issueServer()
        let authorityFile = directory.appending(path: "ca.pem")
        let serverFile = directory.appending(path: "server.pem")
        try Data(authority.certificatePEM()).write(to: authorityFile)
        try Data(identity.certificatePEM).write(to: serverFile)
        for check in [["-verify_hostname", "localhost"], ["-verify_ip", "127.0.0.1"], ["-verify_ip", "::1"]] {
            let arguments = ["verify", "-x509_strict", "-CAfile", authorityFile.path] + check + [serverFile.path]
            #expect(try status(of: arguments) == 0, "\(check)")
        }
        let other = ["verify", "-CAfile", authorityFile.path, "-verify_hostname", "example.com", serverFile.path]
        #expect(try status(of: other) != 0)
        #expect(try !PrivateKey(pem: identity.privateKeyPEM).isRSA)
    }

    private func status(of arguments: [String]) throws -> Int32 {
        // Not Foundation's Process, which the leak checker sees leaking.
        try ChildProcess("openssl", arguments).wait()
    }
}
