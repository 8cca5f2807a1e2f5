import CCurl

/// A URL that was parsed and judged once: `https`, or `http` to this machine itself.
package final class EndpointURL {
    let raw: OpaquePointer
    package let scheme: String
    package let host: String

    /// Refuses what is no URL, what would send a bearer token in clear text over a network, and passwords in the URL.
    package convenience init(_ text: String) throws(CurlError) { try self.init(text, clearTextHosts: []) }

    /// The same, for `http` and `https`, where the host is Google's metadata server, which the machine itself answers.
    package convenience init(metadataServer text: String) throws(CurlError) {
        try self.init(text, clearTextHosts: Self.metadataHosts)
    }

    /// The names and link-local addresses of Google's metadata server.
    private static let metadataHosts: Set<String> = [
        "metadata.google.internal", "metadata.google.internal.", "169.254.169.254", "[fd20:ce::254]",
    ]

    private init(_ text: String, clearTextHosts: Set<String>) throws(CurlError) {
        guard let raw = curl_url() else { throw CurlError(.outOfMemory, "out of memory") }
        guard !text.utf8.contains(0), curl_url_set(raw, CURLUPART_URL, text, 0) == CURLUE_OK,
            let scheme = Self.part(raw, CURLUPART_SCHEME), let host = Self.part(raw, CURLUPART_HOST)
        else {
            curl_url_cleanup(raw)
            throw CurlError(.malformedURL, "the endpoint is not a URL such as https://host:port")
        }
        guard
            scheme == "https"
                || (scheme == "http" && (Self.isLoopback(host) || clearTextHosts.contains(host.lowercased())))
        else {
            curl_url_cleanup(raw)
            throw CurlError(.unsupportedProtocol, "the endpoint has to be https (http only to this machine itself)")
        }
        guard Self.part(raw, CURLUPART_USER) == nil, Self.part(raw, CURLUPART_PASSWORD) == nil else {
            curl_url_cleanup(raw)
            throw CurlError(.malformedURL, "the endpoint must not contain a user or a password")
        }
        self.raw = raw
        self.scheme = scheme
        self.host = host
    }

    deinit { curl_url_cleanup(raw) }

    /// 127.0.0.0/8, ::1 and localhost, which libcurl resolves by itself to these.
    static func isLoopback(_ host: String) -> Bool {
        if ["localhost", "[::1]"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func part(_ raw: OpaquePointer, _ part: CURLUPart) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(raw, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
