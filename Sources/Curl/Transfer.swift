import CCurl

/// One slot for requests: made once, configured once, used for any number of posts one after another.
///
/// `CURLOPT_PRIVATE` and the callbacks' contexts point at this object. A `MultiHandle` keeps it alive while it is in
/// flight and takes it out before either of them dies. Not `Sendable`.
package final class Transfer {
    let easy: EasyHandle
    private var body = BodyBuffer()
    let errorBuffer: UnsafeMutablePointer<CChar>
    /// nil until the slot was configured.
    private var method: TransferSettings.Method?
    /// What the next request is to carry.
    private var headers: HeaderList?
    /// What libcurl points at.
    private var headersInUse: HeaderList?
    private var url: EndpointURL?
    private var urlInUse: EndpointURL?
    private var bodyInUse: UnsafeMutablePointer<UInt8>?
    private var bodySizeInUse = -1
    /// Where the connection that this transfer makes will report its end; kept alive as long as libcurl may point at it.
    private var logInUse: SocketLog?

    /// The multi handle that it is in flight on, and where in its list.
    unowned var owner: MultiHandle?
    var position = 0

    private(set) var maximumResponseBytes = 0
    /// Milliseconds that sent bytes may stay unacknowledged; 0 leaves it to the system.
    private(set) var unacknowledgedLimit = 0
    private var connectLimit = 0
    private var connectLimitInUse = 0

    /// For whoever uses the slot.
    package var tag = 0
    /// What has come of the response's body; cut at the settings' limit.
    package internal(set) var response: [UInt8] = []
    /// How often libcurl was about to send the request, by itself again on a connection that turned out dead.
    package internal(set) var issues = 0
    /// More issues than this are refused, and the transfer ends as `.abortedByCallback` with `wasReissueRefused`.
    package var maximumIssues = Int.max
    package internal(set) var wasReissueRefused = false
    /// It needed a connection that its multi handle, which connects once, does not make; nil when it did not.
    package internal(set) var needsConnection: NeedForConnection?
    /// Whether the next request may have to wait for a connection to be made: false saves libcurl a timer where there is one.
    package var mayConnect = true
    /// How the last transfer ended; nil before and while in flight.
    package internal(set) var code: CurlCode?

    package init() throws(CurlError) {
        easy = try EasyHandle()
        errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        // Not in flight: a multi handle holds a reference to what it has in flight. The easy handle dies after this body.
        _ = curl_shim_set_pointer(easy.raw, CURLOPT_ERRORBUFFER, nil)
        errorBuffer.deallocate()
    }

    /// Prepares the slot for requests of one kind; a request in flight is cancelled.
    package func configure(_ settings: TransferSettings) throws(CurlError) {
        owner?.remove(self)
        // Stays unusable where an option is refused halfway.
        method = nil
        try apply(settings)
        method = settings.method
        maximumResponseBytes = settings.maximumResponseBytes
        unacknowledgedLimit = settings.unacknowledgedMilliseconds
        connectLimit = settings.connectTimeoutMilliseconds
        connectLimitInUse = connectLimit
        headers = settings.headers
        headersInUse = nil
        url = settings.url
        urlInUse = settings.url
        bodyInUse = nil
        bodySizeInUse = -1
        logInUse = nil
    }

    /// Replaces the address from the next request on, with another one of the same scheme.
    package func setURL(_ url: EndpointURL) { self.url = url }

    /// Replaces the headers from the next request on, for example after the token was renewed.
    package func setHeaders(_ headers: HeaderList) { self.headers = headers }

    /// Copies the body of the next request; a request in flight is cancelled.
    package func setBody(_ bytes: [UInt8]) {
        removeBody()
        bytes.withUnsafeBytes { body.append($0) }
    }

    /// Empties the body, to be put together with `appendBody`; a request in flight is cancelled.
    package func removeBody() {
        owner?.remove(self)
        body.removeAll()
    }

    /// Adds bytes to the body of the next request; a request in flight is cancelled.
    package func appendBody(_ bytes: UnsafeRawBufferPointer) {
        owner?.remove(self)
        body.append(bytes)
    }

    /// Adds bytes to the body of the next request; a request in flight is cancelled.
    package func appendBody(_ bytes: Span<UInt8>) { bytes.withUnsafeBytes { appendBody($0) } }

    package var isInFlight: Bool { owner != nil }

    /// The final status that came, also where the rest of the response did not; 0 when there was none.
    package var status: Int {
        let status = easy.number(CURLINFO_RESPONSE_CODE)
        // 1xx is followed by the real one.
        return status >= 200 ? status : 0
    }
    /// nil when no status line came.
    package var httpVersion: HTTPVersion? { HTTPVersion(easy.number(CURLINFO_HTTP_VERSION)) }

    /// What libcurl says about a transfer that ended badly; empty after a good one.
    package var errorText: String {
        guard let code, code != .ok else { return "" }
        let text = String(cString: errorBuffer)
        return text.isEmpty ? code.description : text
    }

    /// From the start of the transfer to its end, waiting for a connection included; µs.
    package var totalMicroseconds: Int64 { easy.offset(CURLINFO_TOTAL_TIME_T) }
    /// Bytes of request headers that were handed to the connection; 0 proves that the server has nothing of the request.
    package var requestBytes: Int { easy.number(CURLINFO_REQUEST_SIZE) }
    /// Connections that were made for this transfer; 0 when it shared or reused one.
    package var newConnections: Int { easy.number(CURLINFO_NUM_CONNECTS) }
}

extension Transfer {
    /// Room for a response that is kept for the next one.
    static let keptResponseBytes = 8_192

    /// Clears what the last transfer left, and points libcurl at the next body; then the handle may be added.
    func prepare(for log: SocketLog) throws(CurlError) -> UnsafeMutableRawPointer {
        guard let method else { throw CurlError(usage: "the transfer is not configured") }
        let raw = easy.raw
        // There are many slots, and few long answers.
        response.removeAll(keepingCapacity: response.capacity <= Self.keptResponseBytes)
        issues = 0
        wasReissueRefused = false
        needsConnection = nil
        code = nil
        errorBuffer[0] = 0
        if headers !== headersInUse {
            try easy.check(curl_shim_set_headers(raw, CURLOPT_HTTPHEADER, headers?.raw), "the headers")
            headersInUse = headers
        }
        if let url, url !== urlInUse {
            try easy.check(curl_shim_set_url(raw, url.raw), "the URL")
            urlInUse = url
        }
        let limit = mayConnect ? connectLimit : 0
        if limit != connectLimitInUse {
            try easy.set(CURLOPT_CONNECTTIMEOUT_MS, limit, "the connection timeout")
            connectLimitInUse = limit
        }
        if log !== logInUse {
            try easy.set(CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(log).toOpaque(), "the socket log")
            logInUse = log
        }
        if method == .post {
            if bodyInUse != body.start {
                try easy.check(curl_shim_set_pointer(raw, CURLOPT_POSTFIELDS, body.start), "the body")
                bodyInUse = body.start
            }
            if bodySizeInUse != body.count {
                let size = curl_shim_set_offset(raw, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
                try easy.check(size, "the body's size")
                bodySizeInUse = body.count
            }
        }
        return raw
    }

    /// The object behind a handle that a multi handle reports.
    static func behind(_ handle: UnsafeMutableRawPointer) -> Transfer? {
        var context: UnsafeMutableRawPointer?
        guard curl_shim_get_pointer(handle, CURLINFO_PRIVATE, &context) == CURLE_OK, let context else { return nil }
        return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }
}
