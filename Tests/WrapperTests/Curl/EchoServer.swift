import Foundation
import Glibc
import Testing

/// Debian's `nghttpd`: answers a POST with its own body, over HTTP/2 and TLS, with a certificate made for the occasion.
final class EchoServer {
    let port: Int
    let certificate: TestCertificate
    let process: ChildProcess

    var url: String { "https://localhost:\(port)/echo" }

    /// - Parameter port: nil finds a free one.
    init(_ certificate: TestCertificate, port wanted: Int? = nil, maxStreams: Int = 100) throws {
        self.certificate = certificate
        for _ in 0..<10 {
            let port = try wanted ?? Self.freePort()
            let process = try ChildProcess(
                "nghttpd",
                [
                    "--address=127.0.0.1", "--echo-upload", "--max-concurrent-streams=\(maxStreams)",
                    "--htdocs=\(certificate.folder.path)", "\(port)", certificate.key, certificate.certificate,
                ])
            // It says nowhere when it is ready, so the port is asked. It ends where somebody else took the port.
            while process.isRunning() {
                guard LoopbackListener.isListening(port) else {
                    sched_yield()
                    continue
                }
                self.port = port
                self.process = process
                return
            }
        }
        throw NoServer()
    }

    /// Below the ports that connections get: one that asks whether the server is up could end up connected to itself.
    private static func freePort() throws -> Int {
        for _ in 0..<100 {
            if let listener = try? LoopbackListener(port: .random(in: 20_000..<32_000)) { return listener.port }
        }
        throw NoServer()
    }

    struct NoServer: Error {}
}

/// A self-signed certificate for localhost in a folder of its own, which goes with the object.
final class TestCertificate {
    let folder: URL

    var certificate: String { folder.appendingPathComponent("cert.pem").path }
    var key: String { folder.appendingPathComponent("key.pem").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("todoke-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let openssl = try ChildProcess(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
                certificate,
            ])
        try #require(openssl.wait() == 0, "openssl could not make a certificate")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
