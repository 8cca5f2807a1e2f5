import CCurl
import Glibc

/// What libcurl asks the loop to do: collected by callbacks that do nothing else.
final class SocketLog {
    fileprivate(set) var changes: [MultiHandle.SocketChange] = []
    fileprivate(set) var timeoutMilliseconds: Int?
    fileprivate(set) var deadline: Int64?

    /// Lets libcurl report to this object, which has to outlive the multi handle.
    func attach(to multi: UnsafeMutableRawPointer) {
        let this = Unmanaged.passUnretained(self).toOpaque()
        _ = curl_shim_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, this)
        _ = curl_shim_multi_set_socket_callback(multi, socketChanged)
        _ = curl_shim_multi_set_pointer(multi, CURLMOPT_TIMERDATA, this)
        _ = curl_shim_multi_set_timer_callback(multi, timerChanged)
    }

    func takeChanges() -> [MultiHandle.SocketChange] {
        guard !changes.isEmpty else { return [] }
        defer { changes.removeAll(keepingCapacity: true) }
        return changes
    }

    func clearTimer() {
        timeoutMilliseconds = nil
        deadline = nil
    }
}

private func socketChanged(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    let log = Unmanaged<SocketLog>.fromOpaque(context).takeUnretainedValue()
    // Only the last word on a descriptor counts: it may have been opened and closed since the loop looked.
    log.changes.removeAll { $0.descriptor == socket }
    log.changes.append(
        .init(
            descriptor: socket, read: what == CURL_POLL_IN || what == CURL_POLL_INOUT,
            write: what == CURL_POLL_OUT || what == CURL_POLL_INOUT))
    return 0
}

private func timerChanged(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    let log = Unmanaged<SocketLog>.fromOpaque(context).takeUnretainedValue()
    guard milliseconds >= 0 else {
        log.clearTimer()
        return 0
    }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    log.timeoutMilliseconds = milliseconds
    log.deadline = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) + Int64(milliseconds) * 1_000_000
    return 0
}
