/// Everything about a request that does not change from one to the next.
///
/// Certificates are always verified and redirects never followed. Not `Sendable`: shares the parsed URL and the headers.
package struct TransferSettings {
    package enum Method: Sendable { case get, post }

    package let url: EndpointURL
    package var method = Method.post
    package var headers: HeaderList
    /// PEM file with the only authorities to trust; nil for those of the system.
    package var caFile: String?
    /// Until the connection with TLS stands, waiting for names included; ms.
    package var connectTimeoutMilliseconds = 10_000
    /// For the whole transfer, waiting for a connection included; ms.
    package var timeoutMilliseconds = 30_000
    /// A transfer slower than this many bytes per second for `lowSpeedSeconds` is given up; 0 for no such limit.
    package var lowSpeedBytesPerSecond = 0
    package var lowSpeedSeconds = 0
    /// How long bytes that were sent may stay without the other side's acknowledgement before the connection counts as
    /// dead, ms; 0 leaves it to the system, which takes a quarter of an hour.
    package var unacknowledgedMilliseconds = 0
    /// After how many idle seconds a connection is probed, and how often from then on; the third probe without an answer
    /// ends it.
    package var keepAliveSeconds = 60
    /// How long an address that was looked up is good for the multi handle's next connection, s; -1 for ever, for one that
    /// connects once.
    package var addressSeconds = 60
    /// How long a connection may be idle and still be used again, s.
    package var maximumIdleSeconds = 118
    /// nil follows the usual variables (`HTTPS_PROXY`, `NO_PROXY`), which costs a look at each transfer; `""` is none.
    package var proxy: String?
    /// nil for none but what the headers say: libcurl puts this one together for each request.
    package var userAgent: String? = "todoke"
    /// What is kept of a response; the rest is read and dropped.
    package var maximumResponseBytes = 1 << 20

    package init(url: EndpointURL, headers: HeaderList) {
        self.url = url
        self.headers = headers
    }

    package init(url: String, headers: [String]) throws(CurlError) {
        self.init(url: try EndpointURL(url), headers: try HeaderList(headers))
    }
}
