import CMicroHTTPD
import Glibc
import Reactor

// C function pointers capture nothing: the context is the shared state, a connection's is its object. Both are kept
// alive by the server for longer than libmicrohttpd calls. The callbacks collect; decisions are made after they return.

private func shared(_ context: UnsafeMutableRawPointer?) -> HTTP1Shared? {
    context.map { Unmanaged<HTTP1Shared>.fromOpaque($0).takeUnretainedValue() }
}

private func connection(_ raw: OpaquePointer?) -> HTTP1Connection? {
    guard let raw, let context = microhttpd_shim_socket_context(raw) else { return nil }
    return Unmanaged<HTTP1Connection>.fromOpaque(context).takeUnretainedValue()
}

func connectionChanged(
    _ context: UnsafeMutableRawPointer?, _ raw: OpaquePointer?,
    _ socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
    guard let shared = shared(context), let raw, let socketContext else { return }
    if change == .CONNECTION_NOTIFY_STARTED {
        socketContext.pointee = Unmanaged.passUnretained(shared.opened(raw)).toOpaque()
    } else if let known = socketContext.pointee {
        socketContext.pointee = nil
        shared.closed(Unmanaged<HTTP1Connection>.fromOpaque(known).takeUnretainedValue())
    }
}

/// Comes with the request line, before libmicrohttpd decodes the path and takes the query away.
func requestBegan(
    _ context: UnsafeMutableRawPointer?, _ uri: UnsafePointer<CChar>?, _ raw: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let shared = shared(context), let connection = connection(raw), let raw, let uri else { return nil }
    let length = strnlen(uri, shared.settings.maxHeadBytes)
    let target = UnsafeRawBufferPointer(start: uri, count: length)
    shared.began([UInt8](target), raw, on: connection)
    return nil
}

func requestCompleted(
    _ context: UnsafeMutableRawPointer?, _ raw: OpaquePointer?,
    _ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ how: MHD_RequestTerminationCode
) {
    guard let shared = shared(context), let connection = connection(raw) else { return }
    shared.finished(connection)
}

func requestArrived(
    _ context: UnsafeMutableRawPointer?, _ raw: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
    _ count: UnsafeMutablePointer<Int>?, _ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let shared = shared(context), let connection = connection(raw), let request = connection.request,
        let count, let raw
    else { return .NO }
    switch request.state {
    case .reading:
        guard request.hasHead else {
            request.hasHead = true
            if let method { request.method = [UInt8](String(cString: method).utf8) }
            MHD_get_connection_values_n(
                raw, .HEADER_KIND, takeHeader, Unmanaged.passUnretained(request).toOpaque())
            return .YES
        }
        guard count.pointee > 0 else {
            shared.completed(request)
            MHD_suspend_connection(raw)
            return .YES
        }
        let chunk = UnsafeRawBufferPointer(start: data, count: count.pointee)
        count.pointee = 0
        return request.append(chunk, settings: shared.settings) ? .YES : .NO
    case .waiting:
        return .NO
    case .decided:
        guard let response = request.response else { return .NO }
        request.response = nil
        request.state = .sending
        request.sendingSince = Reactor.now
        return send(response, to: request, shared)
    case .sending:
        return .YES
    }
}

private func takeHeader(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameCount: Int,
    _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let context, let name else { return .YES }
    let request = Unmanaged<HTTP1Request>.fromOpaque(context).takeUnretainedValue()
    let lower = UnsafeRawBufferPointer(start: name, count: nameCount).map { byte in
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
    var text = UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueCount)[...]
    // The library leaves white space at the end, which is no part of the value (RFC 9112 §5.1).
    while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
    request.headers.append((lower, [UInt8](text)))
    return .YES
}

extension HTTP1Request {
    /// False when there is so much that the connection is not worth reading on.
    fileprivate func append(_ chunk: UnsafeRawBufferPointer, settings: HTTP1Settings) -> Bool {
        receivedBytes += chunk.count
        let room = max(0, settings.maxBodyBytes - body.count)
        if chunk.count > room { isBodyCut = true }
        body.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk.prefix(room)))
        return receivedBytes / settings.bodyPatience <= settings.maxBodyBytes
    }
}
