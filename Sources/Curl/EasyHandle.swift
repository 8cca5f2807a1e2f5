import CCurl

/// Owns one `CURL`.
struct EasyHandle: ~Copyable {
    let raw: UnsafeMutableRawPointer

    init() throws(CurlError) {
        guard let raw = curl_easy_init() else { throw CurlError(.outOfMemory, "out of memory") }
        self.raw = raw
    }

    deinit { curl_easy_cleanup(raw) }

    func set(_ option: CURLoption, _ value: Int, _ name: String) throws(CurlError) {
        try check(curl_shim_set_long(raw, option, value), name)
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ text: String?, _ name: String) throws(CurlError) {
        try check(curl_shim_set_string(raw, option, text), name)
    }

    /// libcurl keeps the pointer.
    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer, _ name: String) throws(CurlError) {
        try check(curl_shim_set_pointer(raw, option, pointer), name)
    }

    func check(_ code: CURLcode, _ name: String) throws(CurlError) {
        guard code == CURLE_OK else { throw CurlError(code, setting: name) }
    }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return curl_shim_get_long(raw, info, &value) == CURLE_OK ? value : 0
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return curl_shim_get_offset(raw, info, &value) == CURLE_OK ? Int64(value) : 0
    }
}
