import Curl
import Operations

extension TransferOptions {
    /// For a request to a token endpoint or the metadata server.
    func settings(for request: TokenRequest) throws(CurlError) -> TransferSettings {
        let url = try request.isToMetadataServer ? EndpointURL(metadataServer: request.url) : EndpointURL(request.url)
        var settings = try settings(url: url, headers: HeaderList(request.headers))
        settings.method = request.method
        settings.maximumResponseBytes = 65_536
        settings.connectTimeoutMilliseconds = min(10_000, connectTimeoutMilliseconds)
        settings.timeoutMilliseconds = min(20_000, timeoutMilliseconds)
        if request.isToMetadataServer { settings.proxy = "" }
        return settings
    }
}

extension TransportFault {
    /// Why there was no answer from where tokens come from.
    static func tokenFault(_ code: CurlCode, of credential: Credential, detail: String) -> Failure {
        let endpoint = credential.endpointName
        guard let fault = connectFault(code, host: endpoint, detail: detail) else {
            return Failure(
                .unavailable, "\(endpoint) gave no answer: \(detail.isEmpty ? code.description : detail)",
                remedy: "check the network and proxies on the way")
        }
        // Posts go where `--endpoint` says, tokens come from where the key file says.
        guard fault.remedy.contains("--endpoint") else { return fault }
        return Failure(fault.exit, fault.what, remedy: "check the network and DNS; \(credential.endpointRemedy)")
    }
}
