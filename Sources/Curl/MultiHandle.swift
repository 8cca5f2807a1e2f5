import CCurl

/// Transfers that share connections, driven by a loop that waits elsewhere.
///
/// Not `Sendable`.
///
/// After each call that lets libcurl work (`remove`, `socketReady`, `timedOut`), the loop applies `takeSocketChanges` before
/// anything else opens a descriptor, and looks at `deadline`; then it takes the completions. `add` only notes the transfer:
/// many are added, and one `timedOut` starts them all, in as few packets as possible.
///
/// With ``connectsOnce`` there is one connection in the handle's life, and the streams in flight are those of its transfers.
///
/// Teardown: transfers are taken out, then the handle with its connections goes, then what its callbacks report to.
package final class MultiHandle {
    /// What to watch a descriptor for from now on; neither means not at all.
    package struct SocketChange: Sendable, Hashable {
        package let descriptor: Int32
        package let read: Bool
        package let write: Bool
        /// It was closed since the last look: what is waited for now, if anything, is another one with its number.
        package var wasClosed = false
    }

    private var raw: UnsafeMutableRawPointer?
    let log: SocketLog
    /// Those that were added and have neither completed nor been removed.
    package private(set) var transfers: [Transfer] = []
    private var hasAdded = false

    /// - Parameters:
    ///   - maxStreamsPerConnection: concurrent requests on a connection; the server may allow fewer.
    ///   - maxConnections: open at a time; what does not fit waits in libcurl, within its own timeout.
    ///   - connectsOnce: whether the connection that carries the first request is the only one ever. What libcurl would
    ///     then connect for again (a request on a connection that turned out dead, or that the server refused) ends
    ///     with `Transfer.needsConnection` instead. `maxConnections` does not count then.
    package init(
        maxStreamsPerConnection: Int, maxConnections: Int = 1, connectsOnce: Bool = false
    ) throws(CurlError) {
        log = SocketLog(connectsOnce: connectsOnce)
        raw = curl_multi_init()
        // All fields are set, so `deinit` cleans up after a throw.
        guard let raw else { throw CurlError(.outOfMemory, "out of memory") }
        log.attach(to: raw)
        try set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        try set(CURLMOPT_MAX_CONCURRENT_STREAMS, maxStreamsPerConnection)
        // Without a limit, what needs another connection learns at once that there is none, instead of waiting for one.
        try set(CURLMOPT_MAX_TOTAL_CONNECTIONS, connectsOnce ? 0 : maxConnections)
        try set(CURLMOPT_MAX_HOST_CONNECTIONS, connectsOnce ? 0 : maxConnections)
        try set(CURLMOPT_MAXCONNECTS, maxConnections)
    }

    deinit { close() }

    /// Cancels what is in flight and closes the connections; `takeSocketChanges` then has the last descriptors.
    package func close() {
        guard let raw else { return }
        // Not by `remove`, which compares `owner` with this object: in `deinit` an unowned reference to it is dead already.
        for transfer in transfers {
            curl_multi_remove_handle(raw, transfer.easy.raw)
            transfer.owner = nil
        }
        transfers = []
        log.issued = 0
        curl_multi_cleanup(raw)
        self.raw = nil
        log.clearTimer()
    }

    /// How many ``transfers`` there are.
    package var inFlight: Int { transfers.count }

    /// Those of them that were put on a connection.
    package var issued: Int { log.issued }

    /// Starts a transfer; libcurl begins with it when the deadline (now) is served by `timedOut`.
    package func add(_ transfer: Transfer) throws(CurlError) {
        guard let raw else { throw CurlError(usage: "the multi handle is closed") }
        guard !transfer.isInFlight else { throw CurlError(usage: "the transfer is in flight already") }
        let handle = try transfer.prepare(for: log)
        let code = curl_multi_add_handle(raw, handle)
        guard code == CURLM_OK else { throw CurlError(code) }
        transfer.owner = self
        transfer.position = transfers.count
        transfers.append(transfer)
        hasAdded = true
    }

    /// Transfers were added that `timedOut` has not started yet.
    package var isWaitingToStart: Bool { hasAdded }

    /// Takes a transfer out; in flight, that cancels it with an unknown outcome.
    ///
    /// Harmless for one that is not here.
    package func remove(_ transfer: Transfer) {
        guard transfer.owner === self, let raw else { return }
        curl_multi_remove_handle(raw, transfer.easy.raw)
        transfer.owner = nil
        if transfer.issues > 0 { log.issued -= 1 }
        let last = transfers.removeLast()
        guard last !== transfer else { return }
        last.position = transfer.position
        transfers[transfer.position] = last
    }

    /// Tells libcurl what a descriptor is ready for; `failed` for an error or a hang-up.
    package func socketReady(_ descriptor: Int32, readable: Bool, writable: Bool, failed: Bool = false) {
        var events: Int32 = 0
        if readable { events |= CURL_CSELECT_IN }
        if writable { events |= CURL_CSELECT_OUT }
        if failed { events |= CURL_CSELECT_ERR }
        act(descriptor, events)
    }

    /// Serves the timer, which is then off until libcurl sets it again.
    package func timedOut() {
        log.clearTimer()
        act(-1, 0)
    }

    /// As last told by libcurl, counted from then: 0 is now, nil is no timer.
    ///
    /// `deadline` says when that is.
    package var timeoutMilliseconds: Int? { log.timeoutMilliseconds }

    /// When `timedOut` is to be called: nanoseconds of the monotonic clock; nil for no timer.
    package var deadline: Int64? { log.deadline }

    /// Whether the descriptor is a connection of this handle, used or idle.
    package func isOpen(_ descriptor: Int32) -> Bool { log.open.contains(descriptor) }

    /// What changed since the last call: each descriptor once, with what holds now.
    package func takeSocketChanges() -> [SocketChange] { log.takeChanges() }

    /// The next transfer that has ended, out of the handle already and free for the next request.
    package func nextCompletion() -> (Transfer, CurlCode)? {
        guard let raw else { return nil }
        var left: Int32 = 0
        while let message = curl_multi_info_read(raw, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            // The message dies with the removal.
            let code = CurlCode(curl_shim_message_result(message))
            guard let transfer = Transfer.behind(handle) else {
                curl_multi_remove_handle(raw, handle)
                continue
            }
            remove(transfer)
            transfer.code = code
            return (transfer, code)
        }
        return nil
    }

    private func act(_ descriptor: Int32, _ events: Int32) {
        guard let raw else { return }
        var running: Int32 = 0
        let starts = hasAdded
        hasAdded = false
        // Each request is a packet of headers and one of its body, unless they are held back for the time of the call.
        if starts { log.cork(true) }
        // What can go wrong for a transfer comes as its completion; a descriptor that libcurl has dropped is no error.
        curl_multi_socket_action(raw, descriptor, events, &running)
        if starts { log.cork(false) }
    }

    private func set(_ option: CURLMoption, _ value: Int) throws(CurlError) {
        guard let raw else { return }
        let code = curl_shim_multi_set_long(raw, option, value)
        guard code == CURLM_OK else { throw CurlError(code) }
    }
}
