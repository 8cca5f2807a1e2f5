import Curl
import Operations

/// The server in every machine of Google's cloud that gives out tokens of the machine's service account.
struct MetadataServer: Equatable {
    /// With a port where one is named, as in a URL.
    let host: String
    /// What to ask whether it is there: an address, so that no name server has to answer.
    let probeHost: String
    /// For one answer; ms.
    let timeoutMilliseconds: Int

    /// By Google's variables; `nil` when `NO_GCE_CHECK` says that there is none to look for.
    ///
    /// `GCE_METADATA_HOST` is asked instead of `metadata.google.internal`, `GCE_METADATA_IP` instead of
    /// `169.254.169.254`, both only where they are Google's own or of this machine; `GCE_METADATA_TIMEOUT` is in seconds.
    static func find(_ environment: [String: String]) throws(Failure) -> MetadataServer? {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let skip = value("NO_GCE_CHECK"), ["true", "1"].contains(skip.lowercased()) { return nil }
        let named = value("GCE_METADATA_HOST") ?? value("GCE_METADATA_ROOT")
        let host = named ?? "metadata.google.internal"
        let probeHost = value("GCE_METADATA_IP") ?? named ?? "169.254.169.254"
        for (name, host) in [("GCE_METADATA_HOST", host), ("GCE_METADATA_IP", probeHost)] where !isAllowed(host) {
            throw Failure(
                .configuration, "\(name) names no metadata server: tokens would cross a network in clear text",
                remedy: "set it to metadata.google.internal, 169.254.169.254 or a loopback address, or take it out")
        }
        var seconds = 3.0
        if let text = value("GCE_METADATA_TIMEOUT") {
            guard let given = Double(text), given > 0, given <= 60 else {
                throw Failure(
                    .configuration, "GCE_METADATA_TIMEOUT is not a number of seconds from 0 to 60",
                    remedy: "set it to 3, or take it out")
            }
            seconds = given
        }
        return MetadataServer(host: host, probeHost: probeHost, timeoutMilliseconds: max(1, Int(seconds * 1_000)))
    }

    /// Whether it is a host, with or without a port, that tokens may come from in clear text.
    private static func isAllowed(_ host: String) -> Bool {
        !host.contains { "/?#@\\".contains($0) } && (try? EndpointURL(metadataServer: "http://\(host)/")) != nil
    }

    var tokenRequest: TokenRequest {
        var query: [UInt8] = []
        FormBody.append(Credential.scope, to: &query)
        return TokenRequest(
            metadata: "http://\(host)/computeMetadata/v1/instance/service-accounts/default/token?scopes="
                + String(decoding: query, as: UTF8.self))
    }

    var probeRequest: TokenRequest { TokenRequest(metadata: "http://\(probeHost)/") }
}
