/// A way in which libcurl says that a transfer ended badly (`libcurl-errors`).
package struct TransportCode: Equatable, Sendable {
    /// libcurl's number, 1 to 255.
    package let number: Int

    package init?(number: Int) {
        guard (1...255).contains(number) else { return nil }
        self.number = number
    }

    /// Reads a number or a name: `7`, `COULDNT_CONNECT` or `CURLE_COULDNT_CONNECT`, in any case.
    package init?(_ text: String) {
        let upper = text.uppercased()
        let word = upper.hasPrefix("CURLE_") ? String(upper.dropFirst(6)) : upper
        guard let number = Int(word) ?? Self.numbers[word] else { return nil }
        self.init(number: number)
    }

    /// libcurl's name without `CURLE_`; nil for codes that no HTTPS request ends with.
    package var name: String? { Self.names[number] }

    /// Whether the code alone proves that the request never left: no address, no connection, no TLS session, no trust.
    ///
    /// Not where libcurl had issued the request before, on a connection that died.
    package var isBeforeRequest: Bool { Self.beforeRequest.contains(number) }

    /// Whether a request that was never issued says that the provider cannot be reached: the app's breaker opens.
    package var isConnectFault: Bool { Self.connectFaults.contains(number) }

    private static let beforeRequest: Set<Int> = [1, 3, 5, 6, 7, 35, 58, 59, 60, 66, 77, 82, 83, 90, 91, 98]
    private static let connectFaults: Set<Int> = [1, 3, 5, 6, 7, 28, 35, 51, 58, 60, 77]

    private static let numbers = Dictionary(uniqueKeysWithValues: names.map { ($1, $0) })

    private static let names: [Int: String] = [
        1: "UNSUPPORTED_PROTOCOL", 2: "FAILED_INIT", 3: "URL_MALFORMAT", 4: "NOT_BUILT_IN",
        5: "COULDNT_RESOLVE_PROXY", 6: "COULDNT_RESOLVE_HOST", 7: "COULDNT_CONNECT", 8: "WEIRD_SERVER_REPLY",
        16: "HTTP2", 18: "PARTIAL_FILE", 22: "HTTP_RETURNED_ERROR", 23: "WRITE_ERROR", 25: "UPLOAD_FAILED",
        26: "READ_ERROR", 27: "OUT_OF_MEMORY", 28: "OPERATION_TIMEDOUT", 35: "SSL_CONNECT_ERROR",
        42: "ABORTED_BY_CALLBACK", 43: "BAD_FUNCTION_ARGUMENT", 45: "INTERFACE_FAILED", 47: "TOO_MANY_REDIRECTS",
        48: "UNKNOWN_OPTION", 52: "GOT_NOTHING", 53: "SSL_ENGINE_NOTFOUND", 54: "SSL_ENGINE_SETFAILED",
        55: "SEND_ERROR", 56: "RECV_ERROR", 58: "SSL_CERTPROBLEM", 59: "SSL_CIPHER", 60: "PEER_FAILED_VERIFICATION",
        61: "BAD_CONTENT_ENCODING", 63: "FILESIZE_EXCEEDED", 65: "SEND_FAIL_REWIND", 66: "SSL_ENGINE_INITFAILED",
        77: "SSL_CACERT_BADFILE", 80: "SSL_SHUTDOWN_FAILED", 81: "AGAIN", 82: "SSL_CRL_BADFILE",
        83: "SSL_ISSUER_ERROR", 88: "CHUNK_FAILED", 89: "NO_CONNECTION_AVAILABLE", 90: "SSL_PINNEDPUBKEYNOTMATCH",
        91: "SSL_INVALIDCERTSTATUS", 92: "HTTP2_STREAM", 93: "RECURSIVE_API_CALL", 94: "AUTH_ERROR", 95: "HTTP3",
        96: "QUIC_CONNECT_ERROR", 97: "PROXY", 98: "SSL_CLIENTCERT", 99: "UNRECOVERABLE_POLL", 100: "TOO_LARGE",
        101: "ECH_REQUIRED",
    ]
}
