import CCurl

extension Transfer {
    /// The last value of a response header that is not among those that every transfer keeps, or nil.
    ///
    /// Ask before the slot is used again.
    package func header(named name: String) -> String? {
        var found: UnsafeMutablePointer<curl_header>?
        // -1 is the last response of the transfer, after redirects and answers of proxies.
        guard curl_easy_header(easy.raw, name, 0, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK, let found,
            let value = found.pointee.value
        else { return nil }
        return String(cString: value)
    }
}
