import Curl

/// What all transfers of the sender have in common.
struct TransferOptions {
    var caFile: String?
    var connectTimeoutMilliseconds = 10_000
    /// For a whole request; FCM asks for at least 10 s.
    var timeoutMilliseconds = 20_000
    /// Without a byte in either direction for so long, a request for a token is given up.
    var lowSpeedSeconds = 15
    /// When nothing that was sent is acknowledged for so long, the connection is dead.
    var unacknowledgedMilliseconds = 10_000
    /// `nil` follows libcurl's proxy variables, `""` is none: looking them up for every transfer costs time.
    var proxy: String?
    var userAgent = "todoke"

    /// Not known before libcurl has looked, unless there is none.
    var mayUseProxy: Bool { proxy != "" }

    func settings(url: EndpointURL, headers: HeaderList) -> TransferSettings {
        var settings = TransferSettings(url: url, headers: headers)
        settings.caFile = caFile
        settings.connectTimeoutMilliseconds = connectTimeoutMilliseconds
        settings.timeoutMilliseconds = timeoutMilliseconds
        settings.lowSpeedBytesPerSecond = 1
        settings.lowSpeedSeconds = lowSpeedSeconds
        settings.unacknowledgedMilliseconds = unacknowledgedMilliseconds
        settings.keepAliveSeconds = 30
        settings.proxy = proxy
        settings.userAgent = userAgent
        return settings
    }

    /// Whether libcurl's own variables name a proxy.
    static func namesProxy(_ environment: [String: String]) -> Bool {
        ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy"].contains {
            environment[$0]?.isEmpty == false
        }
    }
}
