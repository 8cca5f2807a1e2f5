import CNGHTTP2
import CTLS

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One client's connection: TLS and HTTP/2 on a nonblocking socket, driven by whoever waits for the socket.
///
/// `receive` reads and collects requests, `nextRequest` hands them out, `respond` and the faults queue frames, and
/// `flush` writes them. Nothing is decided in a callback. Not `Sendable`: it belongs to one loop.
package final class ServerConnection {
    package enum Phase: Sendable {
        /// The TLS handshake is not done.
        case handshaking
        /// Requests come in.
        case open
        /// The client did not choose HTTP/2: `readPlain` and `writePlain` carry its bytes to and fro.
        case plain
        /// Our side is ended; what still comes in is thrown away until the client closes.
        case draining
        /// Open for the client, and dead: nothing is read or written any more.
        case silent
        case closed
    }

    /// How a connection is cut off without a word of TLS or HTTP/2.
    package enum Reset: Sendable {
        case fin, rst
        /// The socket stays open and is never read or written again.
        case silent
    }

    /// The error code of RFC 9113 that says a request was not processed.
    package static let refusedStream = UInt32(NGHTTP2_REFUSED_STREAM.rawValue)

    package let descriptor: Int32
    package internal(set) var phase = Phase.handshaking
    /// Output waits for the socket to take more.
    package private(set) var wantsWrite = false
    /// The id in the GOAWAY that was sent; later streams are never answered.
    package private(set) var goAwayLastID: Int32?
    /// The highest stream id that was handed out as a request.
    package private(set) var lastRequestID: Int32 = 0

    private let tls: OpaquePointer
    private let context: TLSContext
    private let shared: ServerShared
    private let output = OutputBuffer()
    private var session: OpaquePointer?
    /// In the order of their indices.
    package private(set) var streams: [ServerStream] = []
    private var idle: [ServerStream] = []
    /// How many streams are open, requests that are still coming in among them.
    package var openStreams: Int { streams.count - idle.count }
    private var requests: [ServerStream] = []
    private var nextIndex = 0
    private var isReleased = false
    /// The stream whose header block is being read: no other frame can come in between.
    var currentStream: ServerStream?

    /// Takes over the descriptor, also when it throws.
    package init(accepted descriptor: Int32, context: TLSContext, shared: ServerShared) throws(HTTP2Error) {
        guard let tls = SSL_new(context.raw), SSL_set_fd(tls, descriptor) == 1 else {
            _ = close(descriptor)
            throw .fromTLS("no TLS connection")
        }
        SSL_set_accept_state(tls)
        self.tls = tls
        self.descriptor = descriptor
        self.context = context
        self.shared = shared
    }

    deinit { release() }

    // MARK: Input

    /// Reads what has arrived; returns true when it stopped early and should be called again without waiting.
    package func receive() -> Bool {
        if phase == .draining { drain() }
        if phase == .handshaking { handshake() }
        guard phase == .open else { return false }
        let buffer = shared.readBuffer
        // Bounded, so that one busy client cannot keep the others waiting.
        for _ in 0..<128 {
            ERR_clear_error()
            let count = SSL_read(tls, buffer.baseAddress, Int32(buffer.count))
            guard count > 0 else {
                let error = SSL_get_error(tls, count)
                if error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE { closeNow() }
                return false
            }
            guard nghttp2_session_mem_recv(session, buffer.baseAddress, Int(count)) == Int(count) else {
                // libnghttp2 may have queued the GOAWAY that says what was wrong.
                flush()
                endOutput()
                return false
            }
        }
        return true
    }

    /// The next complete request that is still open, in the order of completion.
    package func nextRequest() -> ServerStream? {
        while phase == .open, nextIndex < requests.count {
            let stream = requests[nextIndex]
            nextIndex += 1
            stream.isWaiting = false
            if stream.id == 0 {
                idle.append(stream)
            } else if let last = goAwayLastID, stream.id > last {
                continue
            } else {
                lastRequestID = max(lastRequestID, stream.id)
                return stream
            }
        }
        requests.removeAll(keepingCapacity: true)
        nextIndex = 0
        return nil
    }

    private func handshake() {
        ERR_clear_error()
        let result = SSL_accept(tls)
        guard result == 1 else {
            let error = SSL_get_error(tls, result)
            wantsWrite = error == SSL_ERROR_WANT_WRITE
            if error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE { closeNow() }
            return
        }
        wantsWrite = false
        var protocolName: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(tls, &protocolName, &count)
        // Without ALPN a client speaks HTTP/1.1.
        guard count == 2 else {
            if context.versions == .http2 { return closeNow() }
            phase = .plain
            return
        }
        guard (try? startSession()) != nil else { return closeNow() }
        phase = .open
    }

    // MARK: Bytes of another protocol

    /// Reads into the buffer, at most what it holds; 0 when there is nothing now, nil when nothing will come any more.
    package func readPlain(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard phase == .plain else { return nil }
        ERR_clear_error()
        let count = SSL_read(tls, buffer.baseAddress, Int32(clamping: buffer.count))
        if count > 0 { return Int(count) }
        let error = SSL_get_error(tls, count)
        if error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE { return 0 }
        // After close_notify the client may still read.
        if error != SSL_ERROR_ZERO_RETURN { closeNow() }
        return nil
    }

    /// Writes a part of the bytes; gives back how many, 0 when the socket is full.
    package func writePlain(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard phase == .plain, !bytes.isEmpty else { return 0 }
        ERR_clear_error()
        let count = SSL_write(tls, bytes.baseAddress, Int32(clamping: bytes.count))
        if count > 0 { return Int(count) }
        let error = SSL_get_error(tls, count)
        if error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE { closeNow() }
        return 0
    }

    /// Ends our side and waits for the client's end.
    package func endPlain() {
        guard phase == .plain else { return }
        ERR_clear_error()
        _ = SSL_shutdown(tls)
        endOutput()
    }

    private func startSession() throws(HTTP2Error) {
        session = try shared.makeSession(for: self)
        flush()
    }

    // MARK: Output

    /// Submits the response, these headers and the stream's response body, unless the stream is gone.
    ///
    /// - Parameter count: how many bytes of the body may go out at once; `release` lets the others follow.
    package func respond(to stream: ServerStream, headers: HeaderBlock, releasing count: Int = .max) {
        guard phase == .open, stream.id != 0 else { return }
        let id = stream.id
        stream.releasedBytes = min(count, stream.responseBody.count)
        stream.responseHeaders = headers
        stream.responseOffset = 0
        let length = stream.digits(of: stream.responseBody.count)
        withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: headers.fields.count + 1) { fields in
            _ = fields.initialize(from: headers.fields)
            fields.initializeElement(
                at: headers.fields.count,
                to: nghttp2_nv(
                    name: shared.contentLengthName.baseAddress, value: length.baseAddress,
                    namelen: shared.contentLengthName.count, valuelen: length.count, flags: HeaderBlock.borrowed))
            var provider = nghttp2_data_provider()
            provider.source.ptr = Unmanaged.passUnretained(stream).toOpaque()
            provider.read_callback = readResponseBody
            let hasBody = !stream.responseBody.isEmpty
            withUnsafePointer(to: &provider) {
                _ = nghttp2_submit_response(session, id, fields.baseAddress, fields.count, hasBody ? $0 : nil)
            }
        }
    }

    /// Lets more of a held response go out; true while some of it is still held.
    package func release(_ count: Int, of stream: ServerStream) -> Bool {
        guard phase == .open, stream.id != 0 else { return false }
        stream.releasedBytes = min(stream.releasedBytes + count, stream.responseBody.count)
        _ = nghttp2_session_resume_data(session, stream.id)
        return stream.releasedBytes < stream.responseBody.count
    }

    /// Ends a stream with RST_STREAM instead of a response.
    package func reset(_ stream: ServerStream, code: UInt32) {
        guard phase == .open, stream.id != 0 else { return }
        _ = nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code)
    }

    /// Tells the client how many streams it may have open at once from now on.
    package func limitStreams(to count: Int) {
        guard phase == .open else { return }
        var entry = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(clamping: count))
        _ = nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
    }

    /// Announces the end of the connection: streams above `lastStreamID` were not processed, the others are still
    /// answered, and the connection ends when they are.
    package func goAway(lastStreamID: Int32, debugData: [UInt8] = []) {
        guard phase == .open, goAwayLastID == nil else { return }
        goAwayLastID = lastStreamID
        _ = nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStreamID, UInt32(NGHTTP2_NO_ERROR.rawValue), debugData,
            debugData.count)
    }

    /// Cuts the connection off at once; what was queued is not sent.
    package func reset(by reset: Reset) {
        guard phase != .closed else { return }
        switch reset {
        case .fin: endOutput()
        case .rst:
            SocketOption.resetOnClose(descriptor)
            closeNow()
        case .silent:
            phase = .silent
            wantsWrite = false
            endSession()
        }
    }

    /// Writes as much of the queued frames as the socket takes, in full TLS records.
    package func flush() {
        guard let session, phase == .open || phase == .handshaking else { return }
        wantsWrite = false
        while true {
            output.fill(from: session)
            if output.isEmpty { break }
            ERR_clear_error()
            let written = SSL_write(tls, output.start, Int32(output.recordCount))
            guard written > 0 else {
                let error = SSL_get_error(tls, written)
                wantsWrite = error == SSL_ERROR_WANT_WRITE
                if error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE { closeNow() }
                return
            }
            output.consume(Int(written))
        }
        if nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 {
            _ = SSL_shutdown(tls)
            endOutput()
        }
    }

    /// Ends our side and waits for the client's end: closing with unread input would make the kernel send RST, which
    /// takes away from the client what it has not read yet.
    private func endOutput() {
        guard phase != .closed, phase != .draining, phase != .silent else { return }
        phase = .draining
        wantsWrite = false
        endSession()
        if shutdown(descriptor, Int32(SHUT_WR)) != 0 { closeNow() }
    }

    private func drain() {
        // Bounded as `receive` is: what is left makes the socket ready again.
        for _ in 0..<128 {
            let count = recv(descriptor, shared.readBuffer.baseAddress, shared.readBuffer.count, 0)
            if count > 0 { continue }
            if count == 0 || (errno != EAGAIN && errno != EINTR) { closeNow() }
            return
        }
    }

    /// Gives the connection up without another word; the descriptor lives on until `release`, so that its number is
    /// not given away while it is still watched.
    package func closeNow() {
        phase = .closed
        wantsWrite = false
        endSession()
    }

    /// Frees the session; no stream is there any more for whoever still wants to answer one.
    private func endSession() {
        guard let session else { return }
        nghttp2_session_del(session)
        self.session = nil
        for stream in streams { stream.id = 0 }
    }

    /// Closes the descriptor, once; call it when the descriptor is no longer watched.
    package func release() {
        closeNow()
        guard !isReleased else { return }
        isReleased = true
        SSL_free(tls)
        _ = close(descriptor)
    }

    // MARK: What the callbacks append

    func beginStream(_ id: Int32) {
        let stream = idle.popLast() ?? makeStream()
        stream.begin(id)
        currentStream = stream
        nghttp2_session_set_stream_user_data(session, id, Unmanaged.passUnretained(stream).toOpaque())
    }

    func takeHeader(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        currentStream?.setHeader(name, value)
        if shared.keepsHeaders { currentStream?.keepHeader(name, value) }
    }

    func finishRequest(_ stream: ServerStream) {
        stream.isWaiting = true
        requests.append(stream)
    }

    func closeStream(_ stream: ServerStream) {
        stream.id = 0
        // A request that waits to be handed out comes back when its turn comes.
        if !stream.isWaiting { idle.append(stream) }
    }

    var maxBodyBytes: Int { shared.settings.maxBodyBytes }

    private func makeStream() -> ServerStream {
        let stream = ServerStream(index: streams.count)
        // Holds the stream for as long as the connection lives, since libnghttp2 only has a bare pointer to it.
        streams.append(stream)
        return stream
    }
}
