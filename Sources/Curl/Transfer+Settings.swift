import CCurl

extension Transfer {
    /// Sets every option anew, so that nothing of an earlier use is left.
    func apply(_ settings: TransferSettings) throws(CurlError) {
        // Keeps live connections, which belong to the multi handle.
        curl_easy_reset(easy.raw)
        let this = Unmanaged.passUnretained(self).toOpaque()
        try easy.set(CURLOPT_PRIVATE, pointer: this, "the identity")
        try easy.set(CURLOPT_ERRORBUFFER, pointer: errorBuffer, "the error buffer")
        try easy.set(CURLOPT_NOSIGNAL, 1, "NOSIGNAL")
        // Giving a transfer up would otherwise wait until its name is looked up, which takes a dead name server long.
        try easy.set(CURLOPT_QUICK_EXIT, 1, "QUICK_EXIT")
        try easy.check(curl_shim_set_url(easy.raw, settings.url.raw), "the URL")
        try easy.set(CURLOPT_PROTOCOLS_STR, settings.url.scheme, "the protocols")
        try easy.set(CURLOPT_FOLLOWLOCATION, 0, "FOLLOWLOCATION")
        try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS), "HTTP/2")
        try easy.set(CURLOPT_PIPEWAIT, 1, "PIPEWAIT")
        try easy.set(CURLOPT_TCP_KEEPALIVE, 1, "keepalive")
        try easy.set(CURLOPT_TCP_KEEPIDLE, settings.keepAliveSeconds, "the keepalive's start")
        try easy.set(CURLOPT_TCP_KEEPINTVL, settings.keepAliveSeconds, "the keepalive's interval")
        try easy.set(CURLOPT_MAXAGE_CONN, settings.maximumIdleSeconds, "the idle time")
        try easy.set(CURLOPT_DNS_CACHE_TIMEOUT, settings.addressSeconds, "the DNS cache")
        try easy.set(CURLOPT_SSL_VERIFYPEER, 1, "SSL_VERIFYPEER")
        try easy.set(CURLOPT_SSL_VERIFYHOST, 2, "SSL_VERIFYHOST")
        try easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2), "TLS 1.2")
        if let caFile = settings.caFile {
            try easy.set(CURLOPT_CAINFO, caFile, "the CA file")
            try easy.set(CURLOPT_CAPATH, nil, "no CA folder")
        }
        if let proxy = settings.proxy { try easy.set(CURLOPT_PROXY, proxy, "the proxy") }
        // A proxy's answer to CONNECT is not the provider's.
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1, "SUPPRESS_CONNECT_HEADERS")
        try easy.set(CURLOPT_USERAGENT, settings.userAgent, "the user agent")
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, settings.connectTimeoutMilliseconds, "the connection timeout")
        try easy.set(CURLOPT_TIMEOUT_MS, settings.timeoutMilliseconds, "the timeout")
        try easy.set(CURLOPT_LOW_SPEED_LIMIT, settings.lowSpeedBytesPerSecond, "the low-speed limit")
        try easy.set(CURLOPT_LOW_SPEED_TIME, settings.lowSpeedSeconds, "the low-speed time")
        try easy.set(settings.method == .post ? CURLOPT_POST : CURLOPT_HTTPGET, 1, "the method")
        // As long as a DATA frame may be: what does not fit at once can keep libcurl 7.88 waiting until a time limit.
        try easy.set(CURLOPT_BUFFERSIZE, 16_384, "the buffer's size")
        try easy.set(CURLOPT_WRITEDATA, pointer: this, "the response's context")
        try easy.check(
            curl_shim_set_data_callback(easy.raw, CURLOPT_WRITEFUNCTION, receiveBody), "the response's callback")
        try easy.set(CURLOPT_OPENSOCKETDATA, pointer: this, "the sockets' context")
        try easy.check(curl_shim_set_opensocket_callback(easy.raw, openSocket), "the sockets' callback")
        try easy.check(curl_shim_set_closesocket_callback(easy.raw, closeSocket), "the sockets' end")
        try easy.set(CURLOPT_PREREQDATA, pointer: this, "the issues' context")
        try easy.check(curl_shim_set_prereq_callback(easy.raw, countIssue), "the issues' callback")
    }
}
