import CMicroHTTPD

/// Queues the response; called from the access callback only.
func send(_ response: HTTP1Response, to request: HTTP1Request, _ shared: HTTP1Shared) -> MHD_Result {
    let made: OpaquePointer?
    if response.releasedBytes < response.body.count {
        let held = HeldBody(response.body, released: max(0, response.releasedBytes), of: request)
        let context = Unmanaged.passRetained(held)
        made = MHD_create_response_from_callback(
            UInt64(response.body.count), min(response.body.count, 16 << 10), readHeldBody, context.toOpaque(),
            freeHeldBody)
        if made == nil { context.release() } else { request.heldBody = held }
    } else {
        made = response.body.withUnsafeBytes {
            // The library copies; the pointer is only declared mutable.
            MHD_create_response_from_buffer(
                $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
        }
    }
    guard let made else { return .NO }
    defer { MHD_destroy_response(made) }
    for (name, value) in response.headers { MHD_add_response_header(made, name, value) }
    if response.closesConnection { MHD_add_response_header(made, "Connection", "close") }
    // Other numbers are not a response; the library accepts these.
    let status = (200...999).contains(response.status) ? UInt32(response.status) : 500
    return MHD_queue_response(request.raw, status, made)
}

/// A body of which only a part may go out yet.
final class HeldBody {
    let bytes: [UInt8]
    var released: Int
    /// libmicrohttpd waits for more to be released.
    var isSuspended = false
    private let raw: OpaquePointer

    init(_ bytes: [UInt8], released: Int, of request: HTTP1Request) {
        self.bytes = bytes
        self.released = released
        raw = request.raw
    }

    func read(into buffer: UnsafeMutablePointer<CChar>, from position: Int, atMost: Int) -> Int {
        guard position < released else {
            isSuspended = true
            MHD_suspend_connection(raw)
            return 0
        }
        let count = min(released - position, atMost)
        bytes.withUnsafeBytes {
            UnsafeMutableRawPointer(buffer).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count]).baseAddress ?? .init(buffer),
                byteCount: count)
        }
        return count
    }
}

private func readHeldBody(
    _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ atMost: Int
) -> Int {
    // MHD_CONTENT_READER_END_WITH_ERROR, a cast in C.
    guard let context, let buffer, let position = Int(exactly: position) else { return -2 }
    return Unmanaged<HeldBody>.fromOpaque(context).takeUnretainedValue().read(
        into: buffer, from: position, atMost: atMost)
}

private func freeHeldBody(_ context: UnsafeMutableRawPointer?) {
    // Balances the retain of `send`.
    if let context { Unmanaged<HeldBody>.fromOpaque(context).release() }
}
