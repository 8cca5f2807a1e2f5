import CCurl

/// The protocol of an answer.
package enum HTTPVersion: Sendable {
    case http1, http2, other

    /// Takes `CURLINFO_HTTP_VERSION`; nil when there was no answer.
    init?(_ version: Int) {
        switch version {
        case 0: return nil
        case Int(CURL_HTTP_VERSION_1_0), Int(CURL_HTTP_VERSION_1_1): self = .http1
        case Int(CURL_HTTP_VERSION_2_0): self = .http2
        default: self = .other
        }
    }
}
