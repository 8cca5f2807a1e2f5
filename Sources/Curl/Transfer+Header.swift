import CCurl

extension Transfer {
    /// `Retry-After`, seconds or a date; nil when there was none.
    package var retryAfter: String? { header(named: "Retry-After") }
    /// The server's clock.
    package var date: String? { header(named: "Date") }
    package var contentType: String? { header(named: "Content-Type") }

    /// The last value of a response header, also where the rest of the response did not come; nil for none or an empty one.
    ///
    /// Ask before the slot is used again.
    package func header(named name: String) -> String? {
        var found: UnsafeMutablePointer<curl_header>?
        // -1 is the last response of the transfer, after redirects and answers of proxies.
        guard curl_easy_header(easy.raw, name, 0, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK, let found,
            let value = found.pointee.value
        else { return nil }
        return value.pointee == 0 ? nil : String(cString: value)
    }
}
