#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The few socket settings a server needs.
enum SocketOption {
    /// Makes the next close send RST and forget what was not sent.
    static func resetOnClose(_ descriptor: Int32) {
        var value = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }
}
