import Curl
import Operations

/// What a libcurl error means for the app: whose fault it is and what to do.
enum TransportFault {
    /// `nil` for errors that say nothing about reaching the server, such as a stream that was refused.
    static func connectFault(_ code: CurlCode, host: String, detail: String) -> Failure? {
        switch code.rawValue {
        case 5:
            return Failure(.unavailable, "the proxy's name does not resolve", remedy: "check https_proxy")
        case 6:
            return Failure(.unavailable, "\(host) does not resolve", remedy: "check --endpoint and DNS")
        case 7:
            return Failure(.unavailable, "\(host) refuses the connection", remedy: "check --endpoint and the network")
        case 28:
            return Failure(.unavailable, "\(host) does not answer in time", remedy: "check the network")
        case 35:
            return Failure(
                .unavailable, "TLS with \(host) fails: \(detail)", remedy: "check --endpoint and proxies on the way")
        case 51, 60:
            return Failure(
                .configuration, "the certificate of \(host) is not trusted: \(detail)",
                remedy: "name the right CA with --ca-file, or install ca-certificates")
        case 58, 77:
            return Failure(.configuration, "the CA file cannot be used: \(detail)", remedy: "check --ca-file")
        case 1, 3:
            return Failure(
                .configuration, "\(host) cannot be used: \(detail)",
                remedy: "--endpoint must be https://…")
        default:
            return nil
        }
    }

    /// Why no connection came about for a request that never left: also for a proxy that refuses CONNECT, or a peer that hangs
    /// up at once, of which libcurl's words tell.
    static func noConnection(_ code: CurlCode, host: String, detail: String) -> Failure {
        connectFault(code, host: host, detail: detail)
            ?? Failure(
                .unavailable, "\(host) cannot be reached: \(detail.isEmpty ? code.description : detail)",
                remedy: "check the network and proxies on the way")
    }
}
