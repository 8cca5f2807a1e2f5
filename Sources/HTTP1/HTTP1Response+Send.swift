import CMicroHTTPD
import Reactor

/// Queues the response; called from the access callback only.
func send(_ response: HTTP1Response, to request: HTTP1Request, _ shared: HTTP1Shared) -> MHD_Result {
    let made: OpaquePointer?
    if let pace = response.pace, !response.body.isEmpty {
        let drip = Unmanaged.passRetained(Drip(response.body, pace, request, shared))
        made = MHD_create_response_from_callback(
            UInt64(response.body.count), min(pace.bytes, 64 << 10), dripBody, drip.toOpaque(), freeDrip)
        if made == nil { drip.release() }
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

/// A body on its slow way out.
private final class Drip {
    let body: [UInt8]
    let pace: HTTP1Response.Pace
    let request: HTTP1Request
    let shared: HTTP1Shared
    var due: Int64 = 0

    init(_ body: [UInt8], _ pace: HTTP1Response.Pace, _ request: HTTP1Request, _ shared: HTTP1Shared) {
        self.body = body
        self.pace = pace
        self.request = request
        self.shared = shared
    }

    func fill(_ buffer: UnsafeMutablePointer<CChar>, from position: Int, atMost: Int) -> Int {
        let now = Reactor.now
        guard due <= now else {
            shared.drip(request, at: due)
            MHD_suspend_connection(request.raw)
            return 0
        }
        due = now + pace.nanoseconds
        let chunk = body.dropFirst(position).prefix(min(pace.bytes, atMost))
        UnsafeMutableRawPointer(buffer).copyMemory(from: Array(chunk), byteCount: chunk.count)
        return chunk.count
    }
}

private func dripBody(
    _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ atMost: Int
) -> Int {
    // MHD_CONTENT_READER_END_WITH_ERROR, a cast in C.
    guard let context, let buffer, let position = Int(exactly: position) else { return -2 }
    return Unmanaged<Drip>.fromOpaque(context).takeUnretainedValue().fill(buffer, from: position, atMost: atMost)
}

private func freeDrip(_ context: UnsafeMutableRawPointer?) {
    // Balances the retain of `send`.
    if let context { Unmanaged<Drip>.fromOpaque(context).release() }
}
