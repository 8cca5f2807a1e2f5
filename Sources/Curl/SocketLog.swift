import CCurl
import Glibc

/// What libcurl does with its sockets and its timer: collected by callbacks that do nothing else.
///
/// Outlives the multi handle and every connection in it, which report here.
final class SocketLog {
    fileprivate(set) var changes: [MultiHandle.SocketChange] = []
    fileprivate(set) var timeoutMilliseconds: Int?
    fileprivate(set) var deadline: Int64?
    /// The sockets that are open now, whether or not libcurl waits for them.
    private(set) var open: [Int32] = []
    /// Only the sockets that the first request needs may be opened: none once a request was put on the connection.
    let connectsOnce: Bool
    /// A request was put on a connection.
    var hasIssued = false
    /// How many transfers in flight were put on a connection.
    var issued = 0

    init(connectsOnce: Bool) { self.connectsOnce = connectsOnce }

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

    /// Whether the connection was sound when it was closed last.
    private var wasSound = false

    /// Whether the connection is sound, or was when libcurl closed it: no end and no error came from the other side.
    var isSound: Bool { open.isEmpty ? wasSound : open.allSatisfy(TCPState.isEstablished) }

    func opened(_ socket: Int32) { open.append(socket) }

    func willClose(_ socket: Int32) {
        wasSound = TCPState.isEstablished(socket)
        open.removeAll { $0 == socket }
        change(.init(descriptor: socket, read: false, write: false, wasClosed: true))
    }

    /// What libcurl waits for at a descriptor from now on; `what` is one of `CURL_POLL_…`.
    func watchChanged(_ socket: Int32, _ what: Int32) {
        change(
            .init(
                descriptor: socket, read: what == CURL_POLL_IN || what == CURL_POLL_INOUT,
                write: what == CURL_POLL_OUT || what == CURL_POLL_INOUT,
                // libcurl's own descriptors, such as the resolver's, are closed unseen once it lets go of them.
                wasClosed: what == CURL_POLL_REMOVE && !open.contains(socket)))
    }

    /// Only the last word on a descriptor counts: it may have been opened and closed since the loop looked.
    private func change(_ change: MultiHandle.SocketChange) {
        var latest = change
        changes.removeAll {
            guard $0.descriptor == change.descriptor else { return false }
            if $0.wasClosed { latest.wasClosed = true }
            return true
        }
        changes.append(latest)
    }

    /// Holds back packets that are not full, or sends what was held back.
    func cork(_ isHeld: Bool) {
        var value: Int32 = isHeld ? 1 : 0
        // Fails only on a socket that is no TCP socket or was closed by the other side: nothing is held back there.
        for socket in open {
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}

private func socketChanged(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    let log = Unmanaged<SocketLog>.fromOpaque(context).takeUnretainedValue()
    log.watchChanged(socket, what)
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
    log.timeoutMilliseconds = milliseconds
    // 0 is any time that has passed.
    guard milliseconds > 0 else {
        log.deadline = 0
        return 0
    }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    log.deadline = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) + Int64(milliseconds) * 1_000_000
    return 0
}
