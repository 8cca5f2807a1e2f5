import CNGHTTP2

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// libnghttp2 calls these from within `nghttp2_session_mem_recv` and `_mem_send`, on the thread and inside the call of
// the connection that owns the session: the pointers they are given are alive. They only append.

func installCallbacks(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
        guard let frame, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
        connection(context)?.beginStream(frame.pointee.hd.stream_id)
        return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
        _, frame, name, nameCount, value, valueCount, _, context in
        guard let frame, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
        connection(context)?.takeHeader(
            UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: valueCount))
        return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { session, _, id, data, count, context in
        guard let stream = stream(session, id), let connection = connection(context) else { return 0 }
        stream.append(UnsafeBufferPointer(start: data, count: count), limit: connection.maxBodyBytes)
        return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, context in
        guard let header = frame?.pointee.hd, header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
            UInt32(header.type) == NGHTTP2_DATA.rawValue || UInt32(header.type) == NGHTTP2_HEADERS.rawValue,
            let stream = stream(session, header.stream_id)
        else { return 0 }
        connection(context)?.finishRequest(stream)
        return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, id, _, context in
        guard let stream = stream(session, id) else { return 0 }
        connection(context)?.closeStream(stream)
        return 0
    }
}

/// Copies the next part of a response's body into a DATA frame.
func readResponseBody(
    _ session: OpaquePointer?, _ id: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _ source: UnsafeMutablePointer<nghttp2_data_source>?,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let buffer, let pointer = source?.pointee.ptr else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
    let stream = Unmanaged<ServerStream>.fromOpaque(pointer).takeUnretainedValue()
    let count = min(capacity, stream.releasedBytes - stream.responseOffset)
    // Held back: `release` resumes it.
    if count == 0 && stream.responseOffset < stream.responseBody.count { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
    stream.responseBody.withUnsafeBufferPointer { body in
        if count > 0, let base = body.baseAddress { memcpy(buffer, base + stream.responseOffset, count) }
    }
    stream.responseOffset += count
    if stream.responseOffset == stream.responseBody.count { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
}

private func connection(_ context: UnsafeMutableRawPointer?) -> ServerConnection? {
    context.map { Unmanaged<ServerConnection>.fromOpaque($0).takeUnretainedValue() }
}

private func stream(_ session: OpaquePointer?, _ id: Int32) -> ServerStream? {
    nghttp2_session_get_stream_user_data(session, id).map {
        Unmanaged<ServerStream>.fromOpaque($0).takeUnretainedValue()
    }
}
