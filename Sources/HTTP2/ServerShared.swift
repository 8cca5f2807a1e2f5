import CNGHTTP2

/// What all connections of a server use together: callbacks, options, and the buffer that input is read into.
package final class ServerShared {
    package let settings: ServerSettings
    /// Whether streams keep every header of a request, not only those it is judged by.
    package var keepsHeaders = false
    let readBuffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64 << 10)
    let contentLengthName: UnsafeMutableBufferPointer<UInt8>
    private let callbacks: OpaquePointer
    private let options: OpaquePointer

    package init(settings: ServerSettings) throws(HTTP2Error) {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks,
            nghttp2_option_new(&options) == 0, let options
        else {
            nghttp2_session_callbacks_del(callbacks)
            throw HTTP2Error(.memory, "no memory for HTTP/2 sessions")
        }
        installCallbacks(callbacks)
        // Closed streams are of no use without the priority tree, and keeping them costs time.
        nghttp2_option_set_no_closed_streams(options, 1)
        self.settings = settings
        self.callbacks = callbacks
        self.options = options
        let name = "content-length"
        contentLengthName = .allocate(capacity: name.utf8.count)
        _ = contentLengthName.initialize(from: name.utf8)
    }

    deinit {
        nghttp2_session_callbacks_del(callbacks)
        nghttp2_option_del(options)
        readBuffer.deallocate()
        contentLengthName.deallocate()
    }

    /// A session whose callbacks point at `connection`, which must outlive it; its SETTINGS are queued.
    func makeSession(for connection: ServerConnection) throws(HTTP2Error) -> OpaquePointer {
        var session: OpaquePointer?
        let pointer = Unmanaged.passUnretained(connection).toOpaque()
        guard nghttp2_session_server_new2(&session, callbacks, pointer, options) == 0, let session
        else { throw HTTP2Error(.memory, "no memory for an HTTP/2 session") }
        let entries = [
            entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.maxConcurrentStreams),
            entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.streamWindow),
            // The scheme of RFC 9218 instead of the dependency tree, which is slower and deprecated.
            entry(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
        ]
        let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        guard nghttp2_submit_settings(session, none, entries, entries.count) == 0,
            nghttp2_session_set_local_window_size(session, none, 0, Int32(clamping: settings.connectionWindow)) == 0
        else {
            nghttp2_session_del(session)
            throw HTTP2Error(.memory, "no memory for HTTP/2 settings")
        }
        return session
    }

    private func entry(_ identifier: nghttp2_settings_id, _ value: Int) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: Int32(identifier.rawValue), value: UInt32(clamping: value))
    }
}
