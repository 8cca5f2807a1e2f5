import CCurl

/// The library as a whole.
package enum CurlLibrary {
    /// Runs once, whoever asks first.
    private static let outcome: CurlCode = CurlCode(curl_global_init(Int(CURL_GLOBAL_DEFAULT)))

    /// Prepares libcurl, once for the process.
    ///
    /// Signals have to be blocked before: the threads that resolve names inherit the mask.
    package static func initialize() throws(CurlError) {
        guard outcome == .ok else { throw CurlError(outcome, "libcurl does not start: \(outcome)") }
        guard let info = curl_version_info(CURLversion(rawValue: CURLVERSION_LAST.rawValue - 1)),
            info.pointee.features & CURL_VERSION_HTTP2 != 0
        else {
            throw CurlError(.unsupportedProtocol, "this libcurl was built without HTTP/2")
        }
    }

    /// The library's name and version, and those of what it uses: `libcurl/7.88.1 OpenSSL/3.0.15 … nghttp2/1.52.0 …`.
    package static var version: String { String(cString: curl_version()) }
}
