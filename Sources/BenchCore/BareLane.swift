import CCurl
import Glibc
import Operations

/// One connection of the bare loop with its handles.
final class BareLane {
    struct Socket {
        let descriptor: Int32
        let events: Int16
    }

    private let multi: UnsafeMutableRawPointer?
    private var handles: [UnsafeMutableRawPointer] = []
    private var bodies: [UnsafeMutablePointer<UInt8>] = []
    /// Handles that have nothing to do, by their number.
    private var free: [Int] = []
    private(set) var sockets: [Socket] = []
    /// When libcurl wants to be called, in nanoseconds of the monotonic clock; nil for no time.
    private var deadline: Int64?

    init(streams: Int, url: OpaquePointer, headers: UnsafeMutablePointer<curl_slist>?, caFile: String) {
        multi = curl_multi_init()
        _ = curl_shim_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        _ = curl_shim_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, streams)
        _ = curl_shim_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1)
        // `close` runs before this object dies, and takes the multi handle with it.
        let this = Unmanaged.passUnretained(self).toOpaque()
        _ = curl_shim_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, this)
        _ = curl_shim_multi_set_socket_callback(multi) { _, descriptor, what, context, _ in
            guard let context else { return 0 }
            Unmanaged<BareLane>.fromOpaque(context).takeUnretainedValue().watch(descriptor, what)
            return 0
        }
        _ = curl_shim_multi_set_pointer(multi, CURLMOPT_TIMERDATA, this)
        _ = curl_shim_multi_set_timer_callback(multi) { _, milliseconds, context in
            guard let context else { return 0 }
            let lane = Unmanaged<BareLane>.fromOpaque(context).takeUnretainedValue()
            lane.deadline = milliseconds < 0 ? nil : Stopwatch.now + Int64(milliseconds) * 1_000_000
            return 0
        }
        for number in 0..<streams {
            guard let easy = curl_easy_init() else { break }
            let body = UnsafeMutablePointer<UInt8>.allocate(capacity: SamplePayload.body.count)
            body.initialize(from: SamplePayload.body, count: SamplePayload.body.count)
            Self.configure(easy, number: number, body: body, url: url, headers: headers, caFile: caFile)
            handles.append(easy)
            bodies.append(body)
            free.append(number)
        }
    }

    private static func configure(
        _ easy: UnsafeMutableRawPointer, number: Int, body: UnsafeMutablePointer<UInt8>, url: OpaquePointer,
        headers: UnsafeMutablePointer<curl_slist>?, caFile: String
    ) {
        _ = curl_shim_set_url(easy, url)
        _ = curl_shim_set_headers(easy, CURLOPT_HTTPHEADER, headers)
        _ = curl_shim_set_long(easy, CURLOPT_NOSIGNAL, 1)
        _ = curl_shim_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        _ = curl_shim_set_long(easy, CURLOPT_PIPEWAIT, 1)
        _ = curl_shim_set_string(easy, CURLOPT_CAINFO, caFile)
        _ = curl_shim_set_string(easy, CURLOPT_PROXY, "")
        _ = curl_shim_set_long(easy, CURLOPT_POST, 1)
        _ = curl_shim_set_pointer(easy, CURLOPT_POSTFIELDS, body)
        _ = curl_shim_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(SamplePayload.body.count))
        // A number and no address: nothing is ever read there.
        _ = curl_shim_set_pointer(easy, CURLOPT_PRIVATE, UnsafeMutableRawPointer(bitPattern: number + 1) ?? easy)
        _ = curl_shim_set_data_callback(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }
    }

    /// Ends the connection; nothing may be called after it.
    func close() {
        for easy in handles {
            curl_multi_remove_handle(multi, easy)
            curl_easy_cleanup(easy)
        }
        curl_multi_cleanup(multi)
        for body in bodies { body.deallocate() }
        handles = []
        bodies = []
    }

    /// Puts a message on its way; false when all handles are busy.
    func start(number: Int) -> Bool {
        guard let slot = free.popLast() else { return false }
        var rest = number
        for position in SamplePayload.digits.reversed() {
            bodies[slot][position] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        curl_multi_add_handle(multi, handles[slot])
        return true
    }

    var waitMilliseconds: Int32 {
        guard let deadline else { return 1_000 }
        return Int32(clamping: max(0, (deadline - Stopwatch.now + 999_999) / 1_000_000))
    }

    func serveTimer() {
        guard let deadline, deadline <= Stopwatch.now else { return }
        self.deadline = nil
        act(-1, 0)
    }

    func serve(_ descriptor: Int32, _ revents: Int16) {
        var mask: Int32 = 0
        if revents & Int16(POLLIN) != 0 { mask |= CURL_CSELECT_IN }
        if revents & Int16(POLLOUT) != 0 { mask |= CURL_CSELECT_OUT }
        if revents & Int16(POLLERR | POLLHUP) != 0 { mask |= CURL_CSELECT_ERR }
        act(descriptor, mask)
    }

    /// How many have ended since the last call.
    func takeCompletions() throws(Failure) -> Int {
        var count = 0
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = curl_shim_message_result(message)
            var status = 0
            _ = curl_shim_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
            var context: UnsafeMutableRawPointer?
            _ = curl_shim_get_pointer(easy, CURLINFO_PRIVATE, &context)
            guard code == CURLE_OK, status == 200 else {
                throw Failure(
                    .unavailable,
                    "the bare loop's post ended with \(String(cString: curl_easy_strerror(code))), HTTP \(status)",
                    remedy: "check the sink")
            }
            curl_multi_remove_handle(multi, easy)
            free.append(Int(bitPattern: context) - 1)
            count += 1
        }
        return count
    }

    private func act(_ descriptor: Int32, _ mask: Int32) {
        var running: Int32 = 0
        cork(1)
        curl_multi_socket_action(multi, descriptor, mask, &running)
        cork(0)
    }

    private func cork(_ value: Int32) {
        var value = value
        for socket in sockets {
            setsockopt(socket.descriptor, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    private func watch(_ descriptor: Int32, _ what: Int32) {
        sockets.removeAll { $0.descriptor == descriptor }
        guard what != CURL_POLL_REMOVE else { return }
        var events: Int32 = 0
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { events |= POLLIN }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { events |= POLLOUT }
        sockets.append(Socket(descriptor: descriptor, events: Int16(events)))
    }
}
