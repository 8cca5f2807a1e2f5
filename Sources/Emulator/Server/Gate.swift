import HTTP2
import Reactor
import Signing

/// Where clients come in: the listening socket and the certificate that they are shown, as the scenario wants both.
final class Gate {
    /// The port it listens on, also while nothing listens there.
    let port: Int

    private let host: String
    private let authority: CertificateAuthority
    /// Nil while TCP is refused.
    private(set) var listener: ListeningSocket?
    /// TCP connections are left to the kernel, which accepts them and never lets them through.
    private var leavesClientsWaiting = false
    private var context: TLSContext
    private var certificate = ServerConditions.Certificate.good

    init(host: String, port: Int, authority: CertificateAuthority) throws {
        let listener = try ListeningSocket(host: host, port: port)
        self.listener = listener
        self.port = listener.port
        self.host = host
        self.authority = authority
        context = try Self.context(.good, authority, host: host)
    }

    /// The descriptor on which new clients show; nil while none is let in.
    var descriptor: Int32? { leavesClientsWaiting ? nil : listener?.descriptor }

    /// The next client that waits, with what its handshake is made with.
    func accept() -> (descriptor: Int32, context: TLSContext)? {
        guard !leavesClientsWaiting, let descriptor = listener?.accept() else { return nil }
        return (descriptor, context)
    }

    /// Does what the conditions say at this time; `willClose` is called with the descriptor that is about to go.
    ///
    /// A port that something else took meanwhile is tried again at the next call.
    func apply(_ conditions: ServerConditions, elapsed: Double, willClose: (Int32) -> Void) throws {
        if conditions.certificate != certificate {
            context = try Self.context(conditions.certificate, authority, host: host)
            certificate = conditions.certificate
        }
        context.versions =
            switch conditions.versions {
            case .http1: .http1
            case .http2: .http2
            case .both: .both
            }
        let refusal = conditions.refusal(elapsed: elapsed)
        leavesClientsWaiting = refusal == .noTLS
        if refusal == .refuse {
            if let listener { willClose(listener.descriptor) }
            listener = nil
        } else if listener == nil {
            listener = try? ListeningSocket(host: host, port: port)
        }
    }

    /// Nanoseconds after which `apply` has something to do again; nil when nothing is planned.
    func delay(_ conditions: ServerConditions, elapsed: Double) -> Int64? {
        if listener == nil && conditions.refusal(elapsed: elapsed) != .refuse { return 100_000_000 }
        guard let between = conditions.refuseTCP?.between else { return nil }
        let next = [between.lowerBound, between.upperBound].first { $0 > elapsed }
        return next.map { Int64(($0 - elapsed) * 1e9) }
    }

    private static func context(
        _ kind: ServerConditions.Certificate, _ authority: CertificateAuthority, host: String
    ) throws -> TLSContext {
        let identity =
            switch kind {
            case .good: try authority.issueServer(host: host)
            // The same name, so that nothing but the key tells them apart.
            case .other: try CertificateAuthority(commonName: "fcm-emulator").issueServer(host: host)
            case .expired: try authority.issueServer(host: host, lifetimeSeconds: -3600)
            case .wrongHost: try authority.issueServer(names: ["wrong-host.invalid"], addresses: [])
            }
        return try TLSContext(certificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM)
    }
}

extension ServerConditions {
    /// How TCP is refused at this time.
    func refusal(elapsed: Double) -> Refusal? {
        guard let refuseTCP else { return nil }
        guard let between = refuseTCP.between else { return refuseTCP.by }
        return elapsed >= between.lowerBound && elapsed < between.upperBound ? refuseTCP.by : nil
    }
}

extension CertificateAuthority {
    /// A certificate for loopback and for the host that is listened on.
    fileprivate func issueServer(
        host: String, lifetimeSeconds: Int = CertificateAuthority.lifetimeSeconds
    ) throws(SigningError) -> ServerIdentity {
        let isAddress = host.contains(":") || host.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
        let names = ["localhost"] + (isAddress || host == "localhost" ? [] : [host])
        let addresses = ["127.0.0.1", "::1"] + (!isAddress || ["127.0.0.1", "::1"].contains(host) ? [] : [host])
        return try issueServer(names: names, addresses: addresses, lifetimeSeconds: lifetimeSeconds)
    }
}
