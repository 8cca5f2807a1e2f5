import Glibc
import Operations
import Signing

/// Who answers the posts, and who gives the access token: always the emulator, which answers the posts too unless nghttpd does.
final class Sink {
    static let project = "demo-project"

    let endpoint: String
    /// The authorities of both.
    let caFile: String
    let credentials: String
    let accessToken: String
    /// Where the emulator writes what it accepted.
    let acceptedLog: String
    private let processes: [ChildProcess]

    init(
        _ kind: BenchSettings.SinkKind, settings: BenchSettings, directory: ScratchDirectory, name: String,
        logsAccepted: Bool, interruption: Interruption
    ) throws(Failure) {
        let home = "\(directory.path)/\(name)"
        try directory.makeDirectory(name)
        var arguments = ["--directory", home, "--listen", "127.0.0.1:0", "--project", Self.project, "--quiet"]
        arguments += ["--latency", String(settings.latencyMilliseconds), "--max-streams", String(settings.streams)]
        if !logsAccepted { arguments.append("--no-accepted-log") }
        let emulator = try ChildProcess(
            "\(settings.binaryDirectory)/fcm-emulator", arguments, log: "\(home)/log",
            remedy: "build it, or name its directory with --bin")
        for _ in 0..<100 where TextFile.read("\(home)/endpoint").isEmpty {
            try emulator.checkRunning()
            try interruption.pause(milliseconds: 50)
        }
        accessToken = try AccessToken.fetch(directory: home)
        credentials = "\(home)/service-account.json"
        acceptedLog = "\(home)/accepted.ndjson"
        switch kind {
        case .emulator:
            endpoint = TextFile.read("\(home)/endpoint").split(separator: "\n").first.map(String.init) ?? ""
            caFile = "\(home)/ca.pem"
            processes = [emulator]
        case .nghttpd:
            let files = try Self.prepare(directory, home: home, streams: settings.streams)
            caFile = files.authorities
            let (process, port) = try Self.startNghttpd(files.arguments, home: home, interruption)
            endpoint = "https://127.0.0.1:\(port)"
            processes = [emulator, process]
        }
    }

    /// Throws when one of them has ended.
    func checkRunning() throws(Failure) { for process in processes { try process.checkRunning() } }

    /// Ends them, in order.
    func stop() { for process in processes.reversed() { process.stop() } }

    /// What nghttpd serves and the certificate it serves it with.
    private static func prepare(
        _ directory: ScratchDirectory, home: String, streams: Int
    ) throws(Failure) -> (authorities: String, arguments: [String]) {
        let folder = "v1/projects/\(project)"
        try directory.makeDirectory("nghttpd/\(folder)")
        let root = "\(directory.path)/nghttpd"
        // As long as FCM's own answer.
        let answer = "{\n  \"name\": \"projects/\(project)/messages/0:1764497000123456%3a4b5c6d3a4b5c6d\"\n}\n"
        try TextFile.write(Array(answer.utf8), to: "\(root)/\(folder)/messages:send")
        do {
            let authority = try CertificateAuthority(commonName: "todoke-bench")
            let identity = try authority.issueServer()
            try TextFile.write(identity.privateKeyPEM, to: "\(root)/key.pem")
            try TextFile.write(identity.certificatePEM, to: "\(root)/certificate.pem")
            let both = Array(TextFile.read("\(home)/ca.pem").utf8) + (try authority.certificatePEM())
            try TextFile.write(both, to: "\(root)/authorities.pem")
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.software, "no certificate can be made: \(error)", remedy: "please report this")
        }
        // Windows of 1 MB, so that flow control is no part of the figures.
        let arguments = [
            "--address=127.0.0.1", "--htdocs=\(root)", "--window-bits=20", "--connection-window-bits=20",
            "--max-concurrent-streams=\(streams)",
        ]
        return ("\(root)/authorities.pem", arguments)
    }

    private static func startNghttpd(
        _ arguments: [String], home: String, _ interruption: Interruption
    ) throws(Failure) -> (ChildProcess, Int) {
        let remedy = "install Debian's package nghttp2-server, or use --sink emulator"
        var process: ChildProcess?
        for _ in 0..<10 {
            let port = LoopbackPort.free()
            let keys = arguments[1].dropFirst("--htdocs=".count)
            let started = try ChildProcess(
                "nghttpd", arguments + [String(port), "\(keys)/key.pem", "\(keys)/certificate.pem"],
                log: "\(home)/nghttpd.log", remedy: remedy)
            process = started
            for _ in 0..<100 where started.poll() == nil {
                if LoopbackPort.isOpen(port) { return (started, port) }
                try interruption.pause(milliseconds: 20)
            }
            started.stop()
        }
        throw process?.failure("nghttpd does not serve")
            ?? Failure(.unavailable, "nghttpd does not serve", remedy: remedy)
    }
}
