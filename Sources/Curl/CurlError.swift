import CCurl

/// A call of libcurl that failed, or settings that it cannot have.
///
/// A transfer that ends badly is no error of this kind: it completes with a `CurlCode`.
package struct CurlError: Error, Sendable, CustomStringConvertible {
    /// `.badArgument` where libcurl was not asked at all.
    package let code: CurlCode
    /// One line without URLs, headers or bodies.
    package let description: String

    init(_ code: CURLcode, setting name: String) {
        self.code = CurlCode(code)
        description = "libcurl refuses \(name): \(self.code)"
    }

    init(_ code: CURLMcode) {
        self.code = code == CURLM_OUT_OF_MEMORY ? .outOfMemory : .badArgument
        description = "libcurl: \(String(cString: curl_multi_strerror(code)))"
    }

    /// What this program asked for makes no sense.
    init(usage description: String) { self.init(.badArgument, description) }

    init(_ code: CurlCode, _ description: String) {
        self.code = code
        self.description = description
    }
}
